"""Data to audit: worlds made here."""
