"""Scripts that measure a table each; `everything` runs all of them."""
