"""Charts as Vega draws them."""

from __future__ import annotations

from typing import Any


def svg(chart: Any) -> str:
    """The drawing; an error where the specification is none."""
    import vl_convert

    # checks the specification, then draws it
    return vl_convert.vegalite_to_svg(chart.to_dict())
