"""Colours that stand out on light and on dark ground, and apart for colour-blind readers."""

from __future__ import annotations

WORSE = "#d1603d"
BETTER = "#3f83c4"
GROUP = "#8391a5"
CHANCE = "#8391a5"
FINDING = "#c2367d"
CHOSEN = "#e0a100"
SERIES = (GROUP, "#7d6fc4", "#2f9486")
"""Lines of which none is better or worse than another."""
DIVERGING = ("#dd7350", "#f1ede6", "#5b9bd6")
"""Worst, nothing, best; dark text can be read on all of it."""
NOBODY = -1
"""The chosen group while none is."""
