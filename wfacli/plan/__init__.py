"""Which kernel takes which pairs: estimates, models of time, the choice, and where pairs go that a kernel gives up."""
