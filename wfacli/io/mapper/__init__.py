"""Mapped input: reads, a reference and mappings, from a file or from minimap2 as a process or library."""
