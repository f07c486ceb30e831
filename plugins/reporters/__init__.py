"""Listeners that show a run."""
