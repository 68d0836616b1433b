"""GPU solvers of one long pair."""
