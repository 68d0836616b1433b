"""GPU kernels as data: catalogue rows, memory layouts, and launches. Nothing here accesses a GPU."""
