"""Where evaluations run."""
