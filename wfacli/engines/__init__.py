"""Engines: what turns rows of a batch into alignments."""
