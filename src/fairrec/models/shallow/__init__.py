"""Recommenders that need no torch."""
