"""Tests of the whole command, run as a user runs it: as a process with files, pipes and signals."""
