"""A chart and its data apart: the page packs the data of all charts together.

Charts are Vega-Lite specifications, written as such: making them through Altair's classes, and
loading these, takes longer than all else the page needs. Tests check every one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairrec.core.errors import InputError

if TYPE_CHECKING:
    import altair as alt


# colours that stand out on light and on dark ground, and apart for colour-blind readers. Each says
# one thing: orange is worse, blue is better, grey is neither or not known; findings have an
# outline in ink
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
WIDTH = 520
"""Of a chart by itself."""
NOBODY = -1
"""The chosen group while none is."""


def need_figures() -> None:
    """Say how to install what draws pictures, where it is not there."""
    try:
        import altair  # noqa: F401
        import vl_convert  # noqa: F401
    except ModuleNotFoundError as error:
        raise InputError(
            f"Drawing pictures needs {error.name}: pip install 'fairrec[figures]'"
        ) from error


Rows = Sequence[Mapping[str, Any]]
Spec = dict[str, Any]

_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
_MEMBERS = {
    *("constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString"),
    *("toString", "valueOf", "__proto__", "__defineGetter__", "__defineSetter__"),
    *("__lookupGetter__", "__lookupSetter__"),
}
"""What every object of JavaScript has: Vega looks texts up in objects, and finds these there."""
_UNSEEN = "\u2060"
_KINDS = {"Q": "quantitative", "N": "nominal", "O": "ordinal"}


def as_row(part: Any) -> dict[str, Any]:
    """A part of a view by the names of its fields; `asdict` would copy every value, and is slow."""
    return {name: getattr(part, name) for name in part.__slots__}


def channel(shorthand: str, **look: Any) -> Spec:
    """What a channel shows, a field and its kind, and how.

    >>> channel("size:Q", title="users")
    {'field': 'size', 'type': 'quantitative', 'title': 'users'}
    """
    field, _, kind = shorthand.partition(":")
    return {"field": field, "type": _KINDS[kind], **look}


def where(test: str, then: Any, otherwise: Any) -> Spec:
    """One value where a test is met, another elsewhere."""
    return {"condition": {"test": test, "value": then}, "value": otherwise}


def layer(mark: str, encoding: Spec, *, data: str = "", only: str = "", **look: Any) -> Spec:
    """Marks of one kind; the page says in words what they show, so they are none for a reader.

    Parameters
    ----------
    data : the name of its rows, where they are not those of the whole chart
    only : a test that its rows have to meet
    look : of the marks
    """
    return {
        **({"data": {"name": data}} if data else {}),
        **({"transform": [{"filter": only}]} if only else {}),
        "mark": {"type": mark, "aria": False, **look},
        "encoding": encoding,
    }


def layered(layers: Sequence[Spec], height: int, *, data: str = "", **parts: Any) -> Spec:
    """Layers on top of each other, as wide as there is room.

    Parameters
    ----------
    data : the name of the rows of all layers that have none of their own
    """
    return {
        "$schema": _SCHEMA,
        **({"data": {"name": data}} if data else {}),
        "width": "container",
        "height": height,
        "autosize": {"type": "fit", "contains": "padding"},
        "layer": [*layers],
        **parts,
    }


def drawable(part: Any) -> Any:
    r"""Any part of a chart, with texts that Vega cannot draw made different by what is not seen.

    >>> drawable({"title": "valueOf", "sort": ["a"]})
    {'title': 'valueOf\u2060', 'sort': ['a']}
    """
    if isinstance(part, str):
        return part + _UNSEEN if part in _MEMBERS else part
    if isinstance(part, Mapping):
        return {name: drawable(value) for name, value in part.items()}
    if isinstance(part, Sequence):
        return [drawable(value) for value in part]
    return part


@dataclass(frozen=True, slots=True)
class Figure:
    """A specification whose data sets have names, and the rows of each of them."""

    spec: Spec
    data: Mapping[str, Rows]

    def chart(self) -> alt.LayerChart:
        """The chart with its data, to show or save by itself; the page has colours of its own."""
        need_figures()
        import altair as alt

        config = {
            **self.spec.get("config", {}),
            "legend": {"symbolFillColor": STILL_INK},
            "style": STILL_STYLES,
        }
        rows = {name: list(part) for name, part in self.data.items()}
        whole = {**self.spec, "config": config, "datasets": rows}
        if whole.get("width") == "container":
            whole["width"] = WIDTH
        return alt.LayerChart.from_dict(drawable(whole))
