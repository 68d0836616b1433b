"""A run in shards: a plan that cuts the inputs, the parts that shards write, and their merge."""
