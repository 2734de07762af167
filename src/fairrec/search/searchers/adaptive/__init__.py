"""Our searcher."""
