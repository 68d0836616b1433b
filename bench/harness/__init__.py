"""Code that the tables share: pairs, the loop over rows, results as JSON, time limits, comparison of results."""
