"""The conductors: one file for each thing a user can ask for."""
