"""Which kernels pairs go to, over many batches and specifications: decisions that a change of code must not change."""
