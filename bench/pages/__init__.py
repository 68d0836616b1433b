"""What bench/pages/page.py puts together."""
