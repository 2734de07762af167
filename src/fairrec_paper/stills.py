"""Still pictures of charts, as SVG and as PDF for LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fairrec.report.page.vega import STILL_INK

if TYPE_CHECKING:
    import altair as alt

# wide ones first: text is measured here, and cut off where a wider font is taken to show it
FONT = "Verdana, 'DejaVu Sans', Helvetica, Arial, 'Liberation Sans', sans-serif"


def still(chart: Any, title: str, notes: Sequence[str] = ()) -> alt.TopLevelMixin:
    """A chart with its title and the look of all still pictures."""
    import altair as alt

    heading = alt.TitleParams(title, subtitle=list(notes), anchor="start", offset=12)
    # every kind of chart has these methods, but no common type says so
    styled: alt.TopLevelMixin = (
        chart.properties(title=heading)
        .configure(font=FONT, background="white", padding=12)
        .configure_title(fontSize=16, subtitleFontSize=12, subtitleColor="#555555", color=STILL_INK)
        .configure_axis(
            labelFontSize=12, titleFontSize=12, titleFontWeight="normal", gridColor="#e6e6e6"
        )
        .configure_legend(labelFontSize=13)
        .configure_header(labelFontSize=13, titleFontSize=13)
        .configure_view(stroke=None)
    )
    return styled


def to_svg(chart: alt.TopLevelMixin) -> str:
    """The chart as SVG; its specification is checked on the way."""
    import vl_convert

    drawn: str = vl_convert.vegalite_to_svg(chart.to_dict())
    return drawn


def to_pdf(svg: str) -> bytes:
    """A picture for LaTeX, which takes no SVG."""
    import vl_convert

    drawn: bytes = vl_convert.svg_to_pdf(svg)
    return drawn
