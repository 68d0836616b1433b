"""A SLURM of one node, and the workflows that run on it: `make test-cluster`."""
