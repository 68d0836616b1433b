"""Solvers of one long pair on a GPU."""
