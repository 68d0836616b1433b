"""Tests of plans, shards and merges."""
