"""Checks of instruction counts against a baseline."""
