"""The options that name tables, their columns, and what is made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from fairrec.core.errors import InputError
from fairrec.core.kinds import NAMES, TABLE, TEXT, one_of, pairs
from fairrec.core.options import (
    GROUPS,
    STATISTICS,
    TABLES,
    Blank,
    Option,
    Options,
    declared,
    spelled,
)
from fairrec.inputs.columns import COLUMNS, RELEVANCE, Relevance

HELD_OUT = ("test", "relevant", "gain", "missing_lists")
"""The options about held-out interactions."""
VALUES = ("values", "better")
"""Those about values per user."""
ITEM_SIDE = ("side", "unit")
"""Those about whose values are compared."""
OTHER_LISTS = ("against_lists",)
"""That about lists to compare with."""
GROUPED = ("by", "given", "metrics")
"""Those about what is compared."""


def _end(given: Any) -> bool:
    """Whether higher is better."""
    if isinstance(given, bool):
        return given
    if given not in ("higher", "lower"):
        raise ValueError
    return bool(given == "higher")


def ends_in_words(better: Mapping[str, bool] | None) -> dict[str, str] | None:
    """Which end is better, as it is written.

    >>> ends_in_words({"churn": False})
    {'churn': 'lower'}
    """
    if better is None:
        return None
    return {name: "higher" if is_higher else "lower" for name, is_higher in better.items()}


Test = Annotated[
    Any,
    Option(
        TABLE, "Held-out interactions; the predictions are then recommendations, no labels", TABLES
    ),
]
Relevant = Annotated[
    Relevance | None,
    Option(
        RELEVANCE.or_none(),
        "Which held-out items are relevant, or which candidates: 'rating>=4'",
        TABLES,
        default="all held-out items, or labels above 0",
    ),
]
Gain = Annotated[
    str | None,
    Option(
        TEXT.or_none(),
        "Column of the held-out items by which ndcg and exposure_to_relevance weigh them: rating",
        TABLES,
        default="none: a held-out item is relevant or not",
    ),
]
MissingLists = Annotated[
    Literal["zero", "drop"],
    Option(
        one_of("zero", "drop"),
        "Users with held-out items and no list: 0 in accuracy and coverage, or left out",
        TABLES,
    ),
]
Values = Annotated[
    Any, Option(TABLE, "A number or more for each user, instead of predictions", TABLES)
]
Better = Annotated[
    Mapping[str, bool] | None,
    Option(
        replace(
            pairs(_end, "name=higher or name=lower, such as churn=lower", "NAME=higher|lower"),
            written=ends_in_words,
        ).or_none(),
        "Which end is the better one, of a column of the values or of a metric that has none: "
        "churn=lower,watch=higher",
        TABLES,
        default="neither",
    ),
]
Users = Annotated[Any, Option(TABLE, "Users and their attributes", TABLES)]
Side = Annotated[
    Literal["users", "items"],
    Option(
        one_of("users", "items"),
        "Whose values are compared: what users are shown, or how much items are",
        GROUPS,
    ),
]
UnitColumn = Annotated[
    str,
    Option(
        TEXT,
        "Column of the items whose values are compared instead of single items: provider_id",
        GROUPS,
        default="single items",
    ),
]
By = Annotated[
    Any,
    Option(
        NAMES,
        "Attributes that define the groups, numbers in bins on request: gender,age:10,income:q5,"
        "age:18|25|40; of several values per user the first or each: langs:first, langs:each",
        GROUPS,
    ),
]
Given = Annotated[
    Any,
    Option(
        NAMES,
        "Circumstances in which users are to be alike when groups are compared: history_length, "
        "list_length, n_relevant, tied_at_cutoff or columns of the users, in bins as in by: "
        "history_length:q5,list_length",
        GROUPS,
    ),
]
Items = Annotated[
    Any,
    Option(
        TABLE,
        "Items, their categories and other columns: for urd, share, mean, mmr and calibrated",
        TABLES,
    ),
]
History = Annotated[
    Any,
    Option(
        TABLE,
        "Training interactions: for urp, novelty and long_tail, re-rankers and searches",
        TABLES,
    ),
]
AgainstLists = Annotated[
    Any,
    Option(
        TABLE,
        "Other lists of the same users, such as those of another run: for changed, affected, rbo "
        "and tau",
        TABLES,
    ),
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

    test: Test = None
    relevant: Relevant = None
    gain: Gain = None
    missing_lists: MissingLists = "zero"
    values: Values = None
    better: Better = None
    users: Users = None
    items: Items = None
    history: History = None
    against_lists: AgainstLists = None
    columns: Columns = None
    side: Side = "users"
    unit: UnitColumn = ""
    by: By = ()
    given: Given = ()
    metrics: Metrics = None

    def check(self) -> None:
        """Refuse a list of metrics without any, and units of no items."""
        if self.metrics is not None and not self.metrics:
            example = ["churn"] if self.values is not None else ["auc", "ndcg@5"]
            example = ["exposure@10"] if self.side == "items" else example
            raise InputError(f"No metric is named. Example: {spelled('metrics', example)}")
        if self.unit and self.side == "users":
            raise InputError(
                f"{spelled('unit')} is a column of the items. Add {spelled('side', 'items')}, or "
                "leave it out."
            )

    def refuse_gain(self) -> None:
        """An error where there is nothing held out that could be weighed."""
        if self.gain is not None and self.test is None:
            raise InputError(
                f"{spelled('gain', self.gain)} is a column of the held-out interactions. Give "
                f"them, {spelled('test', Blank('FILE'))}, or leave it out: labels of candidates "
                "weigh ndcg as they are."
            )


TABLE_NAMES = tuple(name for name, one in declared(TableOptions).items() if one.kind is TABLE)
"""Those of the options that are tables."""
