"""One long pair, step by step, on the CPU or a GPU: `wfacli distance` and `wfacli local`."""
