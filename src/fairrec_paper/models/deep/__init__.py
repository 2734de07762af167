"""The deep models and their training."""
