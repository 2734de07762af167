"""The charts of the page as one small JSON: specifications, and data in columns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from fairrec.report.figures.curves import certificate_curve, search_history
from fairrec.report.figures.figure import Figure, Rows, drawable
from fairrec.report.figures.groups import correlation_map, group_chart, pair_heat_map
from fairrec.report.page.chart_view import PairMap
from fairrec.report.page.findings import number_columns
from fairrec.report.page.view import PageView
from fairrec.report.words import isolated, plural


def chart_payload(view: PageView) -> str:
    """All charts of a view, as JSON that may stand inside a script element."""
    packer = _Packer()
    figures = {chart.anchor: group_chart(chart) for chart in view.charts if chart.points}
    for certificate in view.certificates:
        if certificate.steps:
            figures[certificate.anchor] = certificate_curve(certificate)
    for at, history in enumerate(view.histories):
        figures[f"history-{at}"] = search_history(history)
    if view.section:
        figures |= view.section.figures
    if view.correlation:
        figures["correlation"] = correlation_map(view.correlation)
    charts = {name: packer.chart(figure) for name, figure in figures.items()}
    pairs = _pairs(view, packer)
    names = number_columns(view.unit, view.confidence, view.difference)
    columns = [[row.numbers[at] for row in view.table] for at in range(len(names))]
    content = {
        "metrics": [[chart.metric, chart.anchor] for chart in view.charts],
        "charts": charts,
        "pairs": pairs,
        "table": {"names": names, "columns": columns},
        # what a difference beside a value as it is has to be called
        "adjusted": view.difference if view.is_adjusted else "",
        "specs": packer.specs,
        "texts": drawable([*packer.texts]),
    }
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def pair_names(pairs: Sequence[PairMap]) -> list[str]:
    """The pairs of attributes that are drawn, each once."""
    return [*dict.fromkeys(_pair_name(pair) for pair in pairs)]


def _pair_name(pair: PairMap) -> str:
    return f"{pair.row_name} and {pair.column_name}"


def _pairs(view: PageView, packer: _Packer) -> list[dict[str, Any]]:
    names = pair_names(view.pairs)
    return [
        {
            **packer.chart(pair_heat_map(pair)),
            "pair": names.index(_pair_name(pair)),
            "metric": view.metrics.index(pair.metric),
            "low": pair.ramp.low,
            "high": pair.ramp.high,
            "neutral": pair.ramp.is_neutral,
            "words": isolated(_in_words(pair)),
        }
        for pair in view.pairs
    ]


def _in_words(pair: PairMap) -> str:
    """A map for those who do not see it."""
    n_cells = len(pair.cells)
    n_findings = sum(cell.is_finding for cell in pair.cells)
    n_faded = sum(cell.is_faded for cell in pair.cells)
    clear = [cell for cell in pair.cells if not cell.is_faded and cell.difference is not None]
    furthest = max(clear, key=lambda cell: abs(cell.shade), default=None)
    said = [
        f"{pair.metric}: {plural(n_cells, 'combination')} of {_pair_name(pair)} with enough "
        f"{pair.unit.many}; empty places have too few.",
        f"{n_faded:,} of {n_cells:,} are faded, because chance alone could explain them."
        if n_faded
        else "",
        f"{plural(n_findings, 'finding')} outlined." if n_findings else "",
        f"Furthest from all others: {furthest.label}, {furthest.text}." if furthest else "",
    ]
    return " ".join(filter(None, said))


@dataclass(slots=True)
class _Packer:
    """Keeps every specification and every text once."""

    specs: list[dict[str, Any]] = field(default_factory=list)
    texts: dict[str, int] = field(default_factory=dict)
    _seen: dict[str, int] = field(default_factory=dict)

    def chart(self, figure: Figure) -> dict[str, Any]:
        spec = drawable(figure.spec)
        key = json.dumps(spec, sort_keys=True)
        if key not in self._seen:
            self._seen[key] = len(self.specs)
            self.specs.append(spec)
        data = {name: self._columns(rows) for name, rows in figure.data.items() if rows}
        return {"spec": self._seen[key], "data": data}

    def _columns(self, rows: Rows) -> dict[str, Any]:
        names = [*rows[0]]
        columns: list[list[Any]] = []
        is_text = []
        for name in names:
            values = [row[name] for row in rows]
            is_text.append(isinstance(values[0], str))
            columns.append(
                [self.texts.setdefault(value, len(self.texts)) for value in values]
                if is_text[-1]
                else values
            )
        return {"names": names, "columns": columns, "texts": [int(text) for text in is_text]}
