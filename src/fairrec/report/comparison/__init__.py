"""Two audits side by side, in words, tables and dots."""
