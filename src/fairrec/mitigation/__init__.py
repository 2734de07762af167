"""Re-rankers: candidate lists -> the same candidates in another order."""
