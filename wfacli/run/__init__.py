"""Commands that read, align and write batches concurrently, in the order of the input."""
