"""Other aligners, timed in native code: their sources are downloaded and compiled when a measurement needs them."""
