"""Columns in which a user has several values, text such as `en|fr` or lists -> one value each.

Groups are made of attributes with one value a user, so what becomes of several has to be asked
for: `lang:first` takes the first, `lang:each` makes of each value an attribute that is yes or no,
`lang:whole` takes them together as one value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from fairrec.core.errors import InputError, plain
from fairrec.core.units import USERS, Unit

HOW = ("first", "each", "whole")
MARK = "|"
MOST_EACH = 50
"""So many values of one column may become attributes of their own."""
HAS, LACKS = "yes", "no"
OPEN, CLOSE = "[", "]"
"""Around the value in the name of an attribute that was made of it: `lang[en]`."""
SIZEABLE = 0.05
"""The share of users with several values from which it has to be said what becomes of them."""


@dataclass(frozen=True, slots=True)
class OneValue:
    """A column with at most one value a user.

    Parameters
    ----------
    note : what the reader should know about the column it was made of
    is_further : whether that column became other attributes before
    """

    name: str
    values: pl.Series
    note: str | None = None
    is_further: bool = False


def one_value_each(
    values: pl.Series, name: str, how: str | None, where: str, unit: Unit = USERS
) -> Iterator[OneValue]:
    """The attribute, or attributes, that a column becomes; an error where that has to be said."""
    as_given = values
    if isinstance(values.dtype, pl.Categorical | pl.Enum):
        values = values.cast(pl.String)
    if how is None:
        yield OneValue(name, as_given, _refuse_several(values, name, where, unit))
        return
    refusal = InputError(
        f"{where}: attribute '{plain(name)}' holds {plain(values.dtype)}. Its values must be "
        "text, whole numbers or true/false."
    )
    kind = values.head(0).explode().dtype if _is_list(values) else values.dtype
    if kind.is_nested() or kind == pl.Object:
        raise refusal
    lists = _lists(values)
    try:
        texts = lists if how == "first" else lists.cast(pl.List(pl.String))
    except pl.exceptions.PolarsError as error:
        raise refusal from error
    n_several = int((lists.list.len() > 1).sum())
    n_of_all = f"{n_several:,} of {len(values):,} {unit.many}"
    told = f"attribute '{name}' has several values for {n_of_all}"
    becomes = {
        "first": "the first of each counts",
        "each": "groups have one of the values, or several, or lack one",
        "whole": "together they count as one value",
    }
    note = f"{told} in the table; {becomes[how]}" if n_several else None
    if how == "first":
        yield OneValue(name, lists.list.first(), note)
    elif how == "whole":
        yield OneValue(name, values if values.dtype == pl.String else _joined(texts), note)
    else:
        for place, (value, answers) in enumerate(_each(texts, name, where, unit)):
            is_further = place > 0
            yield OneValue(
                f"{name}{OPEN}{value}{CLOSE}", answers, None if is_further else note, is_further
            )


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
    texts = pl.DataFrame({"part": _lists(values.drop_nulls().unique())}).with_row_index("text")
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


def _each(lists: pl.Series, name: str, where: str, unit: Unit) -> Iterator[tuple[str, pl.Series]]:
    """Each value, and of each user 'yes' or 'no'; null where a user has no value at all."""
    known = lists.explode().drop_nulls().unique().sort()
    if not 0 < len(known) <= MOST_EACH:
        raise InputError(
            f"{where}: attribute '{plain(name)}' has {len(known):,} different values, of which "
            f"{plain(name)}:each would make as many attributes; from 1 to {MOST_EACH} can be. Keep "
            f"the values that matter, or take the first of each {unit.one}: {plain(name)}:first"
        )
    is_known = (lists.list.len() > 0).alias("is_known")
    for value in known:
        has = pl.DataFrame([is_known, lists.list.contains(value).alias("has")])
        answer = pl.when("has").then(pl.lit(HAS)).otherwise(pl.lit(LACKS))
        yield value, has.select(pl.when("is_known").then(answer)).to_series()


def _joined(lists: pl.Series) -> pl.Series:
    """The values of each user as one text; null where there is none."""
    frame = pl.DataFrame({"values": lists})
    has_any = pl.col("values").list.len() > 0
    return frame.select(pl.when(has_any).then(pl.col("values").list.join(MARK))).to_series()


def _is_list(values: pl.Series) -> bool:
    return isinstance(values.dtype, pl.List | pl.Array)


def _lists(values: pl.Series) -> pl.Series:
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
