"""The view of a result, in a terminal and as Markdown."""
