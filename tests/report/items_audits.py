"""Results of audits of items, made in memory: all that a report can say of them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl

import fairrec
from fairrec.core.audited_entity import ITEMS, Unit
from fairrec.metrics.reading import read_inputs
from fairrec.report.audit_result import AuditResult
from tests.grouped_options import group_options

N_ITEMS = 900
OUTSIDE = "liked by user 7"
"""Outside text keeps its words, whatever is audited."""


def items_result(unit: Unit = ITEMS, scale: float = 1.0, **options: Any) -> AuditResult:
    """An audit of exposure, of which new items of one category get little."""
    result = _audited(unit, scale, tuple(sorted(options.items())))
    # the tables of an audit of items have other names
    told = {"inputs": {}, "command": "fairrec audit recs.parquet"}
    return replace(result, summary=result.summary.model_copy(update=told))


@cache
def _audited(unit: Unit, scale: float, options: tuple[tuple[str, Any], ...]) -> AuditResult:
    rng = np.random.default_rng(5)
    category = rng.choice(["jazz", "rock", OUTSIDE], N_ITEMS)
    era = rng.choice(["new", "old"], N_ITEMS)
    is_worse = (category == "jazz") & (era == "new")
    exposure = scale * (0.2 + 0.05 * rng.random(N_ITEMS) - 0.1 * is_worse)
    items = pl.DataFrame(
        {
            "user_id": [f"i{at}" for at in range(N_ITEMS)],
            "category": category,
            "era": [None if at % 40 == 0 else text for at, text in enumerate(era)],
            "stock": rng.integers(0, 3, N_ITEMS),
        }
    )
    values = items.select("user_id").with_columns(
        pl.Series("exposure", exposure),
        pl.Series("rank", 100 * exposure[::-1] + 3 * (era == "old")),
        pl.Series("share", rng.random(N_ITEMS)),
        pl.Series("merit", [None if at % 3 == 0 else 1.0 for at in range(N_ITEMS)]),
        pl.Series("same", np.ones(N_ITEMS)),
    )
    usual = {"permutations": 199, "by": ("category", "era"), "min_support": 15}
    better = {"exposure": "higher", "rank": "lower", "merit": "higher"}
    given = {**usual, **dict(options)}
    asked = given.get("metrics", values.columns)
    given["better"] = {name: end for name, end in better.items() if name in asked} or None

    def read_units(*args: Any, **kwargs: Any) -> Any:
        inputs, wanted = read_inputs(*args, **kwargs)
        return replace(inputs, unit=unit), wanted

    with (
        patch("fairrec.inputs.users.USERS", unit),
        patch("fairrec.auditing.audit.read_inputs", read_units),
    ):
        return fairrec.audit(**group_options(values=values, users=items, **given))
