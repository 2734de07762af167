"""A mitigation in words, tables and curves."""
