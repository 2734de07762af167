"""Policies and whether a result passes them."""
