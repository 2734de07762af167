"""The same value by the same text in all parts, whatever else a part has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from fairrec.counts.info import AttributeInfo, ValueKind
from fairrec.counts.table import Counts
from fairrec.inputs.binning import as_interval
from fairrec.inputs.users import MISSING


def with_same_labels(counts: Sequence[Counts]) -> list[Counts]:
    """The same, where a value that is called in two ways has one name.

    A bin is `20-29` where all numbers of a part are whole and `[20, 30)` where one is not; a number
    is `1` among whole ones and `1.0` among others; `true` is `True` where it is read as text.
    """
    found = [*counts]
    for name in counts[0].keys:
        texts = [_known(one, name) for one in found]
        abouts = [_about(one, name) for one in found]
        kind = _common_kind(
            [about.kind for about, known in zip(abouts, texts, strict=True) if known]
        )
        labels = {text: text for known in texts for text in known}
        if any(about.binning for about in abouts):
            intervals = {text: as_interval(text) for text in labels}
            if len({*intervals.values()}) < len(intervals):
                labels = intervals
        elif kind == "number":
            labels = {text: _as_number(text) for text in labels}
        elif any(about.kind == "true or false" for about in abouts):
            labels |= {text: text.capitalize() for text in labels if text in ("true", "false")}
        found = [_renamed(one, name, labels, kind) for one in found]
    return found


def _as_number(text: str) -> str:
    """As numbers are written that are not all whole; other texts as they are."""
    try:
        return str(float(text))
    except ValueError:
        return text


def _about(counts: Counts, name: str) -> AttributeInfo:
    assert counts.info is not None
    return {**counts.info.attributes, **counts.info.circumstances}[name]


def _known(counts: Counts, name: str) -> set[str]:
    texts = counts.rows[name].cast(pl.String).drop_nulls().unique().to_list()
    return {text for text in texts if text != MISSING}


def _common_kind(kinds: Sequence[ValueKind]) -> ValueKind:
    """What values are in all parts that have some."""
    if len({*kinds}) == 1:
        return kinds[0]
    return "number" if kinds and {*kinds} == {"whole number", "number"} else "text"


def _renamed(counts: Counts, name: str, labels: dict[str, str], kind: ValueKind) -> Counts:
    assert counts.info is not None
    changed = {old: new for old, new in labels.items() if old != new}
    rows = counts.rows.with_columns(pl.col(name).cast(pl.String).replace(changed))
    update = {}
    for where in ("attributes", "circumstances"):
        keys = getattr(counts.info, where)
        if name in keys:
            update[where] = {**keys, name: keys[name].model_copy(update={"kind": kind})}
    return replace(counts, rows=rows, info=counts.info.model_copy(update=update))
