"""Policies: who writes programs."""
