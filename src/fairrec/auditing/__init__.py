"""Audits: from tables, counts or a model to a result."""
