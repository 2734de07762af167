"""Files of every kind, damaged and tampered with; run by `python -m tests.torture.inputs`."""
