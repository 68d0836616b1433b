"""Single measurements behind decisions in the code."""
