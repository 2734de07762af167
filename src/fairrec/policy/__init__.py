"""Results and a policy -> whether a recommender may pass."""
