"""`wfacli distance`: Levenshtein distance of one pair of any length, and its alignment."""
