"""Where the work on parts of a table is done: in this process, or on the workers of Ray."""
