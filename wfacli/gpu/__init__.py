"""The GPU: kernels as data, a narrow protocol to it, and PyCUDA or ctypes behind that. Importing it touches no GPU."""
