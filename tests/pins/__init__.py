"""Numbers, exit codes and names that a refactoring must not change."""
