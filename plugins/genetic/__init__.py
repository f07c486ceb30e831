"""Genetic programming on Python source."""
