"""Other aligners: sources are downloaded and compiled when a measurement needs them, and timed in native code."""
