"""The GPU: kernels as data, a narrow protocol to the card, and PyCUDA behind it. Importing it touches no card."""
