"""Damaged inputs through the whole command, judged by rule: `python -m tests.input_fuzz --help`."""
