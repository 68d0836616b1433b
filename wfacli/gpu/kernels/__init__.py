"""The GPU's kernels as data: rows, layouts, the memory and launches that pairs need. Nothing here touches a GPU."""
