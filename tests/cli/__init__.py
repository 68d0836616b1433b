"""Tests of the whole command, run as a user runs it: a process with files, pipes and signals."""
