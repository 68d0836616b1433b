"""Shards of a plan on a Dask cluster, which is given as an address and never carries data."""
