"""`wfacli local`: the best local alignments of one pair of any length."""
