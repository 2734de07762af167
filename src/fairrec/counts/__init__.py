"""Users who are alike, counted: all that an audit needs, and no user's row."""
