"""Fuzz the whole command with damaged files, judged by rules: `python -m tests.input_fuzz --help`."""
