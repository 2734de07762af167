"""The demo's world: synthetic users and items, and the lists that a recommender ranks."""
