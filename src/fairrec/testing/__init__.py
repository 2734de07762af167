"""Fairness among the tests of a recommender: `assert_within`, and a fixture for pytest."""

from __future__ import annotations

from fairrec.testing.within import assert_within

__all__ = ["assert_within"]
