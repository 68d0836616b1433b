"""Kernels compiled, and the cache of what was compiled."""
