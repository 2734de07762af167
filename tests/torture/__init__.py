"""Files of every kind, damaged and tampered with."""
