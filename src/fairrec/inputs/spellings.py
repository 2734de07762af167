"""Ids that should be the same in two tables and are written differently."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import add

import polars as pl

from fairrec.core.errors import plain
from fairrec.inputs.ids import comparable, positions_in
from fairrec.inputs.notes import CHECK_FIRST, Note, over_parts

SHOWN = 3
"""Pairs that are shown as examples."""
EXAMPLES = ", such as "
"""What comes before the examples of values."""
ALIKE = f"{CHECK_FIRST}attribute '"
"""How a note on values of an attribute begins."""


@dataclass(frozen=True)
class SpellingNote(Note):
    """Ids of one table that would be in the other, were both spelt alike.

    Parameters
    ----------
    what : user or item
    pairs : some of them, as they are here and there
    """

    what: str
    where: str
    other_where: str
    n: int = over_parts(max)
    pairs: tuple[tuple[str, str], ...] = over_parts(lambda one, other: (*one, *other)[:SHOWN])

    def __str__(self) -> str:
        if not self.n:
            return ""
        s, are = ("", "is") if self.n == 1 else ("s", "are")
        shown = ", ".join(f"{plain(ascii(one))} and {plain(ascii(its))}" for one, its in self.pairs)
        return (
            f"{CHECK_FIRST}{self.n:,} {self.what} id{s} {are} written differently in {self.where} "
            f"and {self.other_where} ({shown}), and so {are} not the same {self.what}{s}. Write "
            "ids alike: case, blanks, leading zeros and Unicode form (NFKC) count"
        )


@dataclass(frozen=True)
class UserSpellingNote(SpellingNote):
    """The same for users, each of whom is in one part."""

    n: int = over_parts(add)


def find_spellings(what: str, ids: pl.Series, where: str, keys: pl.Series, there: str) -> Note:
    """Ids that are not among the keys and would be, were both spelt alike.

    >>> ids, keys = pl.Series(["A1", "b2", "007"]), pl.Series(["a1", "b2", "7"])
    >>> find_spellings("item", ids, "test.csv", keys, "recs.csv").pairs
    (('A1', 'a1'), ('007', '7'))
    """
    kind = UserSpellingNote if what == "user" else SpellingNote
    nothing = kind(what, where, there, 0, ())
    if ids.dtype.is_integer() and keys.dtype.is_integer():
        return nothing
    ids, keys = (one.cast(pl.String) for one in comparable(ids, keys))
    unmatched = ids.filter(pl.Series(positions_in(ids, keys) < 0))
    if not len(unmatched):
        return nothing
    found = (
        pl.LazyFrame({"id": unmatched, "form": _plain_forms(unmatched)})
        .with_row_index("row")
        .join(pl.LazyFrame({"key": keys, "form": _plain_forms(keys)}), on="form")
        .sort("row", "key")
        .unique("row", keep="first", maintain_order=True)
        .collect()
    )
    pairs = tuple(found.head(SHOWN).select("id", "key").rows())
    return kind(what, where, there, found.height, pairs)


def describe_alike_values(name: str, values: Sequence[object]) -> str:
    """What is to be said of values of an attribute that are one but for how they are written.

    >>> describe_alike_values("gender", ["F", "M", "f"]).partition(EXAMPLES)[2]
    "'F' and 'f'"
    >>> describe_alike_values("gender", ["F", "M"])
    ''
    """
    texts = pl.Series([value for value in values if isinstance(value, str)], dtype=pl.String)
    texts = texts.unique()
    alike = (
        pl.DataFrame({"value": texts, "form": _plain_forms(texts)})
        .sort("value")
        .group_by("form", maintain_order=True)
        .agg("value")
        .filter(pl.col("value").list.len() > 1)["value"]
        .to_list()
    )
    if not alike:
        return ""
    n = sum(map(len, alike))
    shown = ", ".join(" and ".join(plain(ascii(one)) for one in some) for some in alike[:SHOWN])
    return (
        f"{ALIKE}{plain(name)}': {n:,} values differ from another only in case, "
        f"blanks, leading zeros or Unicode form, and are groups of their own{EXAMPLES}{shown}"
    )


def _plain_forms(texts: pl.Series) -> pl.Series:
    texts = texts.str.normalize("NFKC").str.to_lowercase().str.normalize("NFC")
    # characters without a width are format characters
    texts = texts.str.replace_all(r"\p{Cf}", "").str.replace_all(r"\s+", " ").str.strip_chars()
    return texts.str.replace(r"^0+(\d)", "$1")
