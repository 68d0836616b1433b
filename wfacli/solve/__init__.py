"""Incremental solvers of one long pair on the CPU or a GPU: `wfacli distance` and `wfacli local`."""
