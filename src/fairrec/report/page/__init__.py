"""The page: one HTML file."""
