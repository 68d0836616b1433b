"""Kernels chosen for many batches and specifications: decisions that refactoring must not change."""
