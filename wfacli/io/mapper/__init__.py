"""Reads, a reference and mappings; minimap2 beside this process, or as a library."""
