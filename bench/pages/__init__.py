"""What bench/page.py puts together."""
