"""Candidate lists -> ranked lists."""
