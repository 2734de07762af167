"""Colours that stand out on light and on dark ground, and apart for colour-blind readers.

Each says one thing: orange is worse, blue is better, grey is neither or not known. A finding is
outlined in ink.
"""

from __future__ import annotations

WORSE = "#d1603d"
BETTER = "#3f83c4"
NEUTRAL = "#7d8a9e"
"""A group of which nothing is said, and ends of which none is better."""
CHANCE = "#7d8a9e"
CHOSEN = "#b07c00"
DIVERGING = ("#da6f4b", "#f1ede6", "#4f90cd")
"""Worst, nothing, best; dark text can be read on all of it."""
DIVERGING_NEUTRAL = ("#8c8f96", "#f2f0f4", "#9f7fc9")
"""Lowest, nothing, highest, where no end is better."""
TEXT_ON_MAP = "#14181f"
INK_STYLE = "ink"
"""Name of the style of lines in the colour of text, which the page sets by its theme."""
HALO_STYLE = "halo"
"""Name of the style of lines in the colour of the ground."""
STILL_STYLES = {INK_STYLE: {"color": "#222222"}, HALO_STYLE: {"stroke": "#ffffff"}}
"""The two on white."""
DENSITY = ("#8593a6", "#2c3542")
"""One group, and as many as anywhere; on white."""
NOBODY = -1
"""The chosen group while none is."""
