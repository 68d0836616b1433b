"""Input and output files: sources, readers, headers, formats, writers."""
