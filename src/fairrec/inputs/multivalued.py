"""Columns in which a user has several values, text such as `en|fr` or lists -> one value each.

Groups are made of attributes with one value a user, so what becomes of several has to be asked
for: `lang:first` takes the first, `lang:each` makes of each value an attribute that is yes or no,
`lang:whole` takes them together as one value.
"""

from __future__ import annotations

import polars as pl

from fairrec.core.audited_entity import USERS, Unit
from fairrec.core.errors import InputError, plain

HOW = {
    "first": "the first of each counts",
    "each": "groups have one of the values, or several, or lack one",
    "whole": "together they count as one value",
}
"""What may become of several values, in words."""
MARK = "|"
MOST_EACH = 50
"""So many values of one column may become attributes of their own."""
HAS, LACKS = "yes", "no"
OPEN, CLOSE = "[", "]"
"""Around the value in the name of an attribute that was made of it: `lang[en]`."""
SIZEABLE = 0.05
"""The share of users with several values from which it has to be said what becomes of them."""


def split_values(
    values: pl.Series, name: str, how: str | None, where: str, unit: Unit = USERS
) -> tuple[dict[str, pl.Series], str | None]:
    """The attributes that a column becomes, each with at most one value a user, and a note on it.

    An error where it has to be said what becomes of several values, see `HOW`.
    """
    if how is None:
        return {name: values}, _refuse_several(values, name, where, unit)
    if isinstance(values.dtype, pl.Categorical | pl.Enum):
        values = values.cast(pl.String)
    kind = values.head(0).explode().dtype if _is_list(values) else values.dtype
    refusal = InputError(
        f"{where}: attribute '{plain(name)}' holds {plain(values.dtype)}. Its values must be "
        "text, whole numbers or true/false."
    )
    if kind.is_nested() or kind == pl.Object:
        raise refusal
    lists = _as_lists(values)
    try:
        texts = lists if how == "first" else lists.cast(pl.List(pl.String))
    except pl.exceptions.PolarsError as error:
        raise refusal from error
    n_several = int((lists.list.len() > 1).sum())
    note = (
        f"attribute '{name}' has several values for {n_several:,} of {len(values):,} {unit.many} "
        f"in the table; {HOW[how]}"
    )
    if how == "first":
        columns = {name: lists.list.first()}
    elif how == "whole":
        whole = values
        if values.dtype != pl.String:
            has_any = pl.col("values").list.len() > 0
            joined = pl.when(has_any).then(pl.col("values").list.join(MARK))
            whole = pl.DataFrame({"values": texts}).select(joined).to_series()
        columns = {name: whole}
    else:
        columns = _split_each(texts, name, where, unit)
    return columns, note if n_several else None


def is_joined(values: pl.Series) -> pl.Series:
    """(n_users,), whether a text is several values joined by '|'; never where '|' is part of names.

    Values are joined where at least half of the parts also occur in other texts. A name such as
    'R|B' that always stands so is one value, and so are keys of one form ('US|Boston', 'US|Miami').

    >>> is_joined(pl.Series(["en", "fr", "en|fr"])).to_list()
    [False, False, True]
    >>> is_joined(pl.Series(["R|B", "pop", "R|B"])).any()
    False
    """
    never = pl.repeat(False, len(values), dtype=pl.Boolean, eager=True)
    if values.dtype != pl.String:
        return never
    has_mark = values.str.contains(MARK, literal=True).fill_null(value=False)
    if not has_mark.any():
        return never
    texts = pl.DataFrame({"part": _as_lists(values.drop_nulls().unique())}).with_row_index("text")
    texts = texts.with_columns(n=pl.col("part").list.len()).filter(pl.col("n") > 0)
    parts = (
        texts.with_columns(place=pl.int_ranges("n"))
        .explode("part", "place")
        .group_by("part")
        .agg(pl.col("text", "place").n_unique(), is_joined=(pl.col("n") > 1).any())
    )
    if texts["n"].n_unique() == 1 and (parts["place"] == 1).all():
        return never
    recurs = parts.filter("is_joined").select(pl.col("text") > 1).to_series()
    return has_mark if len(recurs) and 2 * int(recurs.sum()) >= len(recurs) else never


def _refuse_several(values: pl.Series, name: str, where: str, unit: Unit) -> str | None:
    """Refuse a column in which many users have several values; a note where few have."""
    name = plain(name)
    choice = (
        f"Say what becomes of several: take the first of each {unit.one} ({name}:first), make an "
        f"attribute of each value ({name}:each), or take them together as one value ({name}:whole)."
    )
    if _is_list(values):
        raise InputError(
            f"{where}: attribute '{name}' holds lists, and an attribute has one value "
            f"{unit.a}. {choice}"
        )
    joined = is_joined(values)
    n_several, n_users = int(joined.sum()), len(values) - values.null_count()
    if not n_several:
        return None
    if n_several >= SIZEABLE * n_users:
        raise InputError(
            f"{where}: attribute '{name}' has several values for {n_several:,} of {n_users:,} "
            f"{unit.many}, such as {plain(repr(values.filter(joined)[0]))}, and an attribute has "
            f"one value {unit.a}. {choice}"
        )
    return (
        f"attribute '{name}' seems to have several values for {n_several:,} of {n_users:,} "
        f"{unit.many} in the table, which count as one value together; {name}:first or "
        f"{name}:each tells them apart"
    )


def _split_each(lists: pl.Series, name: str, where: str, unit: Unit) -> dict[str, pl.Series]:
    """For each value, of each user 'yes' or 'no'; null where a user has no value at all."""
    known = lists.explode().drop_nulls().unique().sort()
    if not 0 < len(known) <= MOST_EACH:
        raise InputError(
            f"{where}: attribute '{plain(name)}' has {len(known):,} different values, of which "
            f"{plain(name)}:each would make as many attributes; from 1 to {MOST_EACH} can be. Keep "
            f"the values that matter, or take the first of each {unit.one}: {plain(name)}:first"
        )
    has = pl.col("lists").list.contains
    answers = pl.DataFrame({"lists": lists}).select(
        pl.when(pl.col("lists").list.len() > 0)
        .then(pl.when(has(value)).then(pl.lit(HAS)).otherwise(pl.lit(LACKS)))
        .alias(f"{name}{OPEN}{value}{CLOSE}")
        for value in known
    )
    return answers.to_dict()


def _is_list(values: pl.Series) -> bool:
    return isinstance(values.dtype, pl.List | pl.Array)


def _as_lists(values: pl.Series) -> pl.Series:
    """The values of each user as a list without gaps; empty where a user has none."""
    if values.dtype == pl.String:
        part = pl.element().str.strip_chars()
        values = values.str.split(MARK).list.eval(part.filter(part != ""))
    elif isinstance(values.dtype, pl.Array):
        values = values.arr.to_list()
    elif not isinstance(values.dtype, pl.List):
        values = pl.select(pl.concat_list(values)).to_series()
    if values.head(0).explode().dtype.is_float():
        values = values.list.eval(pl.element().filter(pl.element().is_not_nan()))
    return values.list.drop_nulls().fill_null([])
