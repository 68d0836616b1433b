"""Pages made from bench/results: docs/benchmarks.md, docs/papers.md, tables of README.md, and plots."""
