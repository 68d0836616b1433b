"""Pages made from bench/results: docs/benchmarks.md, docs/papers.md, blocks of docs/speed.md and README.md, plots."""
