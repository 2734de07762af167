"""Which groups to look at next, when scoring users is expensive."""
