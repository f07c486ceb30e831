"""Vectors for programs, for novelty."""
