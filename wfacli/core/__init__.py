"""What every other part knows: the columns of a batch, CIGARs, costs, counts and cores."""
