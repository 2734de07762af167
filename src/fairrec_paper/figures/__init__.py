"""Figures of the paper and of `search-bench`."""
