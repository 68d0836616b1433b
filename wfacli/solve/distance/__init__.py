"""One pair of any length: its Levenshtein distance, and the path."""
