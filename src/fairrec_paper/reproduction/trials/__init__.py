"""What experiments are made of: pieces of work that are done once and kept."""
