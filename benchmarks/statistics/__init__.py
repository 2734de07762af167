"""What the statistics hold: rates over many worlds, each against what is claimed."""
