"""speciate grows programs: solutions, harnesses and policy weights, evolved in one population."""
