"""A GPU in use: driver, device thread, pinned memory and launches."""
