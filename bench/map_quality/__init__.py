"""Simulated reads with known true positions, and how well a mapper's records agree with them."""
