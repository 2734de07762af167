"""Comparison of two audits."""
