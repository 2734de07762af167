"""The options that name tables, their columns, and what is made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from fairrec.core.errors import InputError
from fairrec.core.option_types import Form, Names, Pairs, Switch, Table
from fairrec.core.options import (
    GROUPS,
    STATISTICS,
    TABLES,
    Blank,
    Option,
    Options,
    grouped,
    list_options,
    options,
    spell,
)
from fairrec.inputs.columns import ColumnNames, RelevanceType

HELD_OUT = ("test", "relevant", "gain", "missing_lists")
"""The options about held-out interactions."""
VALUES = ("values", "better")
"""Those about values per user."""
ITEM_SIDE = ("side", "unit")
"""Those about whose values are compared."""
COUNTED = ("counts", "disjoint")
"""Those about counts."""
OTHER_LISTS = ("against_lists",)
"""That about lists to compare with."""
NOT_OF_CANDIDATES = (*VALUES, *ITEM_SIDE, *OTHER_LISTS, *COUNTED)
"""Those that have no effect where lists are re-ranked or scored anew."""
GROUPED = ("by", "adjust_for", "metrics")
"""Those about what is compared."""


def _parse_end(given: Any) -> bool:
    """Whether higher is better."""
    if isinstance(given, bool):
        return given
    if given not in ("higher", "lower"):
        raise ValueError("neither higher nor lower")
    return bool(given == "higher")


def ends_as_text(better: Mapping[str, bool] | None) -> dict[str, str] | None:
    """Which end is better, as it is written.

    >>> ends_as_text({"churn": False})
    {'churn': 'lower'}
    """
    if better is None:
        return None
    return {name: "higher" if is_higher else "lower" for name, is_higher in better.items()}


def _list_counts(given: Any) -> tuple[Any, ...]:
    """Files, or counts in memory."""
    several = given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    return tuple(Path(one) if isinstance(one, str) else one for one in several)


@grouped("tables")
@options
class Tables(Options):
    """Which columns and rows of the tables are used, and how."""

    relevant: Annotated[
        RelevanceType | None,
        Option(
            "Which held-out items are relevant, or which candidates: 'rating>=4'",
            TABLES,
            default="all held-out items, or labels above 0",
        ),
    ] = None
    gain: Annotated[
        str | None,
        Option(
            "Column of the held-out items by which ndcg and exposure_to_relevance weigh them: "
            "rating",
            TABLES,
            default="none: a held-out item is relevant or not",
        ),
    ] = None
    missing_lists: Annotated[
        Literal["zero", "drop"],
        Option(
            "Users with held-out items and no list: 0 in accuracy and coverage, or left out", TABLES
        ),
    ] = "zero"
    better: Annotated[
        Annotated[
            Mapping[str, Annotated[bool, BeforeValidator(_parse_end)]],
            Pairs,
            Form(
                "name=higher or name=lower, such as churn=lower",
                "NAME=higher|lower",
                is_list=True,
                to_data=ends_as_text,
            ),
        ]
        | None,
        Option(
            "Which end is the better one, of a column of the values or of a metric that has none: "
            "churn=lower,watch=higher",
            TABLES,
            default="neither",
        ),
    ] = None
    against_lists: Annotated[
        Table | None,
        Option(
            "Other lists of the same users, such as those of another run: for changed, affected "
            "and rbo",
            TABLES,
        ),
    ] = None
    columns: Annotated[
        ColumnNames | None,
        Option("Other names of columns: user_id=uid,items.categories=tags", TABLES),
    ] = None
    side: Annotated[
        Literal["users", "items"],
        Option("Whose values are compared: what users are shown, or how much items are", GROUPS),
    ] = "users"
    unit: Annotated[
        str,
        Option(
            "Column of the items whose values are compared instead of single items: provider_id",
            GROUPS,
            default="single items",
        ),
    ] = ""

    disjoint: Annotated[
        Switch,
        Option("No user is in two of the counts, although they do not say whose they are", TABLES),
    ] = False

    def __post_init__(self) -> None:
        if self.unit and self.side == "users":
            raise InputError(
                f"{spell('unit')} is a column of the items. Add {spell('side', 'items')}, or "
                "leave it out."
            )


@options
class TableOptions(Tables):
    """The tables of an audit beside its predictions, and which of their columns are used how."""

    test: Annotated[
        Table | None,
        Option(
            "Held-out interactions; the predictions are then recommendations, no labels", TABLES
        ),
    ] = None
    values: Annotated[
        Table | None, Option("A number or more for each user, instead of predictions", TABLES)
    ] = None
    counts: Annotated[
        Any,
        BeforeValidator(_list_counts),
        Form("a path or counts, or several", "FILE", is_list=True, is_split=False, is_path=True),
        Option(
            "Counts by fairrec count, instead of tables; may be repeated for counts of other users",
            TABLES,
        ),
    ] = ()
    users: Annotated[Table | None, Option("Users and their attributes", TABLES)] = None
    items: Annotated[
        Table | None,
        Option(
            "Items, their categories and other columns: for urd, share, mean and mmr",
            TABLES,
        ),
    ] = None
    history: Annotated[
        Table | None,
        Option(
            "Training interactions: for urp, novelty and long_tail, re-rankers and searches", TABLES
        ),
    ] = None
    by: Annotated[
        Names,
        Option(
            "Attributes that define the groups, numbers in bins on request: gender,age:10,"
            "income:q5,age:18|25|40; of several values per user the first or each: langs:first, "
            "langs:each",
            GROUPS,
        ),
    ] = ()
    adjust_for: Annotated[
        Names,
        Option(
            "Covariates to adjust for: compare users with equal history_length, list_length, "
            "n_relevant, tied_at_cutoff or columns of the users, in bins as in by: "
            "history_length:q5,list_length",
            GROUPS,
        ),
    ] = ()
    metrics: Annotated[
        Names | None,
        Option(
            "Metrics with an optional cut-off: auc,ndcg@10",
            STATISTICS,
            default="what the tables allow",
        ),
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.disjoint and not self.counts:
            raise InputError(f"{spell('disjoint')} is about {spell('counts')}. Leave it out.")
        if self.metrics is not None and not self.metrics:
            example = ["churn"] if self.values is not None else ["auc", "ndcg@5"]
            example = ["exposure@10"] if self.side == "items" else example
            raise InputError(f"No metric is named. Example: {spell('metrics', example)}")

    def refuse_gain(self) -> None:
        """An error where there is nothing held out that could be weighed."""
        if self.gain is not None and self.test is None:
            raise InputError(
                f"{spell('gain', self.gain)} is a column of the held-out interactions. Give "
                f"them, {spell('test', Blank('FILE'))}, or leave it out: labels of candidates "
                "weigh ndcg as they are."
            )


TABLE_NAMES = tuple(
    name
    for name, one in list_options(TableOptions).items()
    if one.form.is_path and name not in COUNTED
)
"""Those of the options that are tables."""
