"""The options that name tables, their columns, and what is made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fairrec.core.kinds import NAMES, TABLE
from fairrec.core.options import GROUPS, STATISTICS, TABLES, Option, Options
from fairrec.inputs.columns import COLUMNS

Users = Annotated[Any, Option(TABLE, "Users and their attributes", TABLES)]
By = Annotated[
    Any,
    Option(
        NAMES,
        "Attributes that define the groups, numbers in bins on request: gender,age:10,income:q5",
        GROUPS,
    ),
]
Items = Annotated[
    Any, Option(TABLE, "Items and their categories: for urd, mmr and calibrated", TABLES)
]
History = Annotated[
    Any,
    Option(TABLE, "Training interactions: for urp and urp_abs, re-rankers and searches", TABLES),
]
Metrics = Annotated[
    Any,
    Option(
        NAMES.or_none(),
        "Metrics with an optional cut-off: auc,ndcg@10",
        STATISTICS,
        default="what the tables allow",
    ),
]
Columns = Annotated[
    Mapping[str, str] | None,
    Option(COLUMNS.or_none(), "Other names of columns: user_id=uid,items.categories=tags", TABLES),
]


@dataclass(frozen=True)
class TableOptions(Options):
    """The tables of an audit beside its predictions, and which of their columns are used how."""

    users: Users = None
    items: Items = None
    history: History = None
    columns: Columns = None
    by: By = ()
    metrics: Metrics = None
