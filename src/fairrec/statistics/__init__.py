"""Per-user values and groups -> estimates, p-values and findings."""
