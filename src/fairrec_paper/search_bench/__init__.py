"""Searchers beside the exact answer."""
