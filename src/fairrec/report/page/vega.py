"""Vega-Lite specifications apart from their data, which the page packs for all charts together.

They are plain dictionaries: Altair's classes take longer to load than all else a page needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairrec.core.errors import InputError

if TYPE_CHECKING:
    import altair as alt


# colours for light and dark ground, distinct for colour-blind readers: orange is worse, blue is
# better, grey is neither; findings have an outline in ink
WORSE = "#d1603d"
BETTER = "#3f83c4"
GROUP = "#7d8a9e"
"""A group without a significant difference, or a metric without a better end."""
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
STILL_INK = "#222222"
"""The colour of text and of these lines on white."""
WIDTH = 520
"""Of a chart by itself."""
NO_GROUP = -1
"""The chosen group where none is chosen."""


def need_figures() -> None:
    """Refuse to draw pictures without the packages that do it."""
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
"""Members of every JavaScript object: Vega looks texts up in objects, and finds these there."""
_UNSEEN = "\u2060"
_KINDS = {"Q": "quantitative", "N": "nominal", "O": "ordinal"}


def channel(shorthand: str, **look: Any) -> Spec:
    """The field that a channel shows, its type and its look.

    >>> channel("size:Q", title="users")
    {'field': 'size', 'type': 'quantitative', 'title': 'users'}
    """
    field, _, kind = shorthand.partition(":")
    return {"field": field, "type": _KINDS[kind], **look}


def where(test: str, then: Any, otherwise: Any) -> Spec:
    """One value where a test holds, another elsewhere."""
    return {"condition": {"test": test, "value": then}, "value": otherwise}


def layer(mark: str, encoding: Spec, *, data: str = "", only: str = "", **look: Any) -> Spec:
    """Marks of one kind; the page describes charts in words, so screen readers skip the marks.

    Parameters
    ----------
    data : the name of its rows; those of the whole chart by default
    only : a test that filters its rows
    look : of the marks
    """
    return {
        **({"data": {"name": data}} if data else {}),
        **({"transform": [{"filter": only}]} if only else {}),
        "mark": {"type": mark, "aria": False, **look},
        "encoding": encoding,
    }


def layered(layers: Sequence[Spec], height: int, *, data: str = "", **parts: Any) -> Spec:
    """Layers on top of each other, as wide as their container.

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
    r"""A part of a chart in which texts that Vega cannot draw end in an invisible character.

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
    """A specification whose data sets have names, and the rows of each."""

    spec: Spec
    data: Mapping[str, Rows]

    def chart(self) -> alt.LayerChart:
        """The chart with its data, to show or save by itself."""
        need_figures()
        import altair as alt

        config = {
            **self.spec.get("config", {}),
            "style": {INK_STYLE: {"color": STILL_INK}},
        }
        rows = {name: list(part) for name, part in self.data.items()}
        whole = {**self.spec, "config": config, "datasets": rows}
        if whole.get("width") == "container":
            whole["width"] = WIDTH
        return alt.LayerChart.from_dict(drawable(whole))
