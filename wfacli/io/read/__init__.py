"""Input files: sources, compression, records, indexes."""
