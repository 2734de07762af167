"""Groups over releases."""
