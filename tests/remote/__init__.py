"""Tests of inputs and outputs by URL; make test-dask runs those that need s3fs and moto."""
