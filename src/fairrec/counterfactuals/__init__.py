"""Audits of what changes for the same users with another attribute."""
