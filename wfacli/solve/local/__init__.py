"""`wfacli local`: best local alignments of one pair of any length."""
