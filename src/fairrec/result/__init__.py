"""Statistics -> the result of an audit, its parts and its files."""
