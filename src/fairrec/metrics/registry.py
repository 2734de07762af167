"""What a metric is, the table of all metrics, and the decorator that adds one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args

from fairrec.core.arrays import FloatArray
from fairrec.core.audited_entity import Side
from fairrec.core.errors import MetricError
from fairrec.core.registry import Registry
from fairrec.metrics.direction import harm

Need = Literal[
    "labels", "candidates", "items", "item_columns", "history", "user_profiles", "against_lists"
]
"""Relevance, all candidates instead of the first ones alone, and what tables beside them hold."""
TABLE_OF_NEED = {
    "items": "items",
    "item_columns": "items",
    "history": "history",
    "against_lists": "against_lists",
}
"""The table that has to be there."""
Asked = Literal["", "column", "column=value"]
"""What a metric takes in brackets: nothing, a column of the items, or one of its values."""

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T", float, FloatArray)


@dataclass(frozen=True, slots=True)
class Metric:
    """A registered metric.

    Parameters
    ----------
    name : without the cut-off
    compute : `(lists)` or `(lists, k)` -> one float per user, NaN where undefined; of items
        `(shown)` or `(shown, k)` -> what each received, and what it was due
    higher_is_better : None where neither end is better
    needs : the data it cannot do without
    definition : one sentence
    called : what it measures, in two or three words; its name by default
    has_cutoff : whether it takes `@k`
    bounds : the range of its values, where it has one
    ratio_scale : whether 0 is none of it, so that values may be compared in percent; None to
        decide by the range of its values
    takes : what stands in brackets behind it; `compute` has it as `of`
    side : whose values it gives
    """

    name: str
    compute: Callable[..., Any]
    higher_is_better: bool | None
    needs: frozenset[Need]
    definition: str
    has_cutoff: bool
    bounds: tuple[float, float] | None = None
    called: str = ""
    ratio_scale: bool | None = None
    takes: Asked = ""
    side: Side = "users"

    @property
    def written(self) -> str:
        """How it is asked for.

        >>> METRICS["ndcg"].written, METRICS["share"].written
        ('ndcg@k', 'share@k[column=value]')
        """
        return (
            self.name
            + ("@k" if self.has_cutoff else "")
            + (f"[{self.takes}]" if self.takes else "")
        )

    def is_ratio_scale(self, lowest: float) -> bool:
        """Whether values may be compared in percent: they start at 0, and 0 is none of it.

        >>> METRICS["ndcg"].is_ratio_scale(0.2), METRICS["urp"].is_ratio_scale(0.2)
        (True, False)
        """
        if self.ratio_scale is not None:
            return self.ratio_scale
        return lowest >= 0 if self.bounds is None else self.bounds[0] == 0

    def harm(self, difference: T) -> T:
        """How much worse a group is that differs by so much: its difference in the bad direction.

        The size of the difference where neither end is better.
        """
        return harm(difference, self.higher_is_better)


METRICS: Registry[Metric] = Registry("metric")
ITEM_METRICS: Registry[Metric] = Registry("metric of items")
OF_SIDE: dict[Side, Registry[Metric]] = {"users": METRICS, "items": ITEM_METRICS}
"""Those of users and those of items."""


def metric(
    name: str,
    *,
    higher_is_better: bool | None = True,
    needs: Need | tuple[Need, ...] = "labels",
    bounds: tuple[float, float] | None = None,
    ratio_scale: bool | None = None,
    called: str = "",
    takes: Asked = "",
    side: Side = "users",
) -> Callable[[F], F]:
    """Register the decorated function as a metric; see `Metric`.

    The function takes ranked lists and, if it has a cut-off, `k`; it returns one number per
    user, NaN where undefined. The first line of its docstring is shown as its definition.

    >>> import numpy as np
    >>> from fairrec.metrics import METRICS, metric
    >>> @metric("top_label", higher_is_better=True)
    ... def top_label(lists):
    ...     "Label of the first item."
    ...     return lists.labels(1)[:, 0]
    >>> METRICS["top_label"].definition
    'Label of the first item.'
    >>> METRICS.remove("top_label")
    """
    if not name or set(name) & set("@[], \t\n"):
        raise MetricError(
            f"A metric cannot be called {name!r}: no '@', ',', bracket or space in its name."
        )
    wanted = (needs,) if isinstance(needs, str) else needs
    for need in wanted:
        if need not in get_args(Need):
            raise MetricError(f"needs={need!r} is not known. Known: {', '.join(get_args(Need))}.")

    def register(function: F) -> F:
        has_cutoff = "k" in inspect.signature(function).parameters
        OF_SIDE[side].add(
            name,
            Metric(
                name=name,
                compute=function,
                higher_is_better=higher_is_better,
                needs=frozenset(wanted),
                definition=(inspect.getdoc(function) or "").partition("\n")[0],
                has_cutoff=has_cutoff,
                bounds=bounds,
                ratio_scale=ratio_scale,
                called=called,
                takes=takes,
                side=side,
            ),
        )
        return function

    return register
