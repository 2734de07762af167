"""Large tables, cut into parts of whole users that are read one at a time."""
