"""Types and functions for all other modules: batch columns, CIGARs, costs, statistics, time models and CPU cores."""
