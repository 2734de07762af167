"""Trained runs: in a folder, loaded, served."""
