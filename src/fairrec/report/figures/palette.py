"""Colours that stand out on light and on dark ground, and apart for colour-blind readers.

Each says one thing: orange is worse, blue is better, grey is neither or not known. A finding is
outlined in ink.
"""

from __future__ import annotations

WORSE = "#d1603d"
BETTER = "#3f83c4"
GROUP = "#7d8a9e"
"""A group of which nothing is said, and ends of which none is better."""
CHANCE = GROUP
CHOSEN = "#b07d00"
SERIES = (GROUP, "#7d6fc4", "#2f9486")
"""Lines of which none is better or worse than another."""
DIVERGING = ("#da6f4b", "#f1ede6", "#4f90cd")
"""Worst, nothing, best; dark text can be read on all of it."""
DIVERGING_NEUTRAL = ("#8c8f96", "#f2f0f4", "#9f7fc9")
"""Lowest, nothing, highest, where no end is better."""
TEXT_ON_MAP = "#14181f"
INK_STYLE = "ink"
"""Name of the style of lines in the colour of text, which the page sets by its theme."""
HALO_STYLE = "halo"
"""Name of the style of lines in the colour of the ground."""
COUNT_STYLE = "count"
"""Name of the style of areas in the colour of text."""
COUNTED = (0.5, 1.0)
"""How much of it an area has: with one group in it, and with as many as anywhere."""
STILL_INK = "#222222"
STILL_STYLES = {
    INK_STYLE: {"color": STILL_INK},
    HALO_STYLE: {"stroke": "#ffffff"},
    COUNT_STYLE: {"color": STILL_INK},
}
"""These styles on white."""
NOBODY = -1
"""The chosen group while none is."""
