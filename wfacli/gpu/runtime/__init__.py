"""A GPU in use: the driver, its thread, memory on the way, jobs."""
