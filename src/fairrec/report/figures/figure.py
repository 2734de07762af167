"""A chart and its data apart: the page packs the data of all charts together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairrec.report.figures.palette import STILL_INK, STILL_STYLES

if TYPE_CHECKING:
    import altair as alt

Rows = Sequence[Mapping[str, Any]]


def fields_of(part: Any) -> dict[str, Any]:
    """A part of a view by the names of its fields; `asdict` would copy every value, and is slow."""
    return {name: getattr(part, name) for name in part.__slots__}


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart whose data sets have names, and the rows of each of them."""

    drawing: alt.LayerChart | alt.FacetChart
    data: Mapping[str, Rows]

    def spec(self) -> dict[str, Any]:
        """The Vega-Lite specification without the data, unchecked: tests check every figure."""
        return self.drawing.to_dict(validate=False)

    def chart(self) -> alt.LayerChart | alt.FacetChart:
        """The chart with its data, to show or save by itself; the page has colours of its own."""
        rows = {name: list(part) for name, part in self.data.items()}
        chart: alt.LayerChart | alt.FacetChart = self.drawing.properties(
            datasets=rows
        ).configure_legend(symbolFillColor=STILL_INK)
        chart.config.style = STILL_STYLES
        return chart
