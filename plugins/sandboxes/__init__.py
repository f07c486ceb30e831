"""Ways to contain a candidate."""
