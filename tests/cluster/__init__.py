"""Tests of runs on a Dask cluster; make test-dask runs those that need Dask."""
