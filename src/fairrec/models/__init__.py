"""Recommenders that come with FairRec."""
