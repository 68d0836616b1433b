"""What dynamic programming charges: scores of letters, costs of gaps, and what to align under them."""
