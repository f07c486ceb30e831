"""Comparisons of strategies under equal budgets: what to run, running it, and an honest report."""
