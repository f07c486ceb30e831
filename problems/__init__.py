"""One folder a problem."""
