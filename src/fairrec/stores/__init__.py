"""Where results are taken: run tracking and model cards."""
