"""`wfacli simulate`: pairs of sequences with simulated errors."""
