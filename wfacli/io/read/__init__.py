"""Files in: sources, compression, records, indexes."""
