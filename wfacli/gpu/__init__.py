"""The GPU: kernels as data, a narrow protocol to the GPU, and PyCUDA behind it. Importing it touches no GPU."""
