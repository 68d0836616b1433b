"""One command put together: reading, aligning and writing side by side, in the order of the input."""
