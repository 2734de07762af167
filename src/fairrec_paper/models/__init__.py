"""The paper's deep models, their training, and trained runs."""
