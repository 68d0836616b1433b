"""Scoring for dynamic programming: substitution scores, gap costs, alignment specifications, statistics."""
