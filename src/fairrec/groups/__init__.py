"""Attributes -> groups of users and sums over them."""
