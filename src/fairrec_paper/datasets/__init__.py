"""Data to audit: publishers' data sets in one form, and worlds made here."""
