"""Commands whose disk fails and who are killed at every step; run by `python -m tests.torture`."""
