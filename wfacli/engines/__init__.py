"""Engines, which align rows of a batch."""
