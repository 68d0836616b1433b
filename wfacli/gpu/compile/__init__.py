"""Kernel compilation, and the cache of compiled kernels."""
