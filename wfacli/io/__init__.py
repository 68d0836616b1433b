"""Files in and out: sources, readers, headers, formats, output."""
