"""Tests of the workflows of engines."""
