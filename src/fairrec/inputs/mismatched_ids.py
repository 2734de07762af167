"""Ids that should be the same in two tables and are not, or are written differently."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import add, and_
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy.special import pdtr

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.errors import plain
from fairrec.inputs.ids import comparable, find_positions
from fairrec.inputs.notes import CHECK_FIRST, Note, over_parts

if TYPE_CHECKING:
    from fairrec.inputs.candidates import CandidateLists
    from fairrec.inputs.held_out import HeldOut
    from fairrec.inputs.tables import Table


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
    unmatched = ids.filter(pl.Series(find_positions(ids, keys) < 0))
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


_LEAST_P = 1e-3


_MOST_OTHERS = 1.5
"""Lists of a model hit more of their own users' items than of others', or follow popularity."""


_UNRELATED = 0.2
"""The largest correlation of how often items are recommended and held out, for unrelated ids."""


_UNIFORM = 2.0
"""The largest index of dispersion of recommendations that may be random."""


IdRange = tuple[int, int] | None
"""Lowest and highest id; None where not all are whole numbers."""


def _joint(one: IdRange, other: IdRange) -> IdRange:
    return (min(one[0], other[0]), max(one[1], other[1])) if one and other else None


@dataclass(frozen=True)
class MismatchNote(Note):
    """Lists that hit nothing, or so little that their items may be others than those held out.

    Parameters
    ----------
    hits : recommended items that are held out for their user
    by_popularity : hits expected of lists drawn by popularity among held-out items
    by_others : hits expected of the same lists, given to other users
    is_unrelated : whether some items are recommended more than others, and those are not the ones
        that are wanted more, nor less
    """

    where: str
    test_where: str
    hits: int = over_parts(add)
    by_popularity: float = over_parts(add)
    by_others: float = over_parts(add, default=0.0)
    is_unrelated: bool = over_parts(and_, default=False)
    ids: tuple[int, int] | None = over_parts(_joint, default=None)
    test_ids: tuple[int, int] | None = over_parts(_joint, default=None)

    def __str__(self) -> str:
        is_mismatch = (
            self.is_unrelated
            and self.hits <= _MOST_OTHERS * self.by_others
            and pdtr(self.hits, self.by_popularity) < _LEAST_P
        )
        if not is_mismatch and not self.hits:
            return (
                f"{CHECK_FIRST}not one recommended item is held out for its user. Check that "
                f"{self.test_where} is the test table and no other, and that its ids are those of "
                "the recommendations"
            )
        if not is_mismatch:
            return ""
        said = (
            f"{CHECK_FIRST}the lists in {self.where} hit {self.hits:,} held-out items. Lists drawn "
            f"at random by popularity in {self.test_where} would hit about "
            f"{self.by_popularity:,.0f}, and these lists, given to other users, "
            f"{self.by_others:,.0f}. Check that both tables have the same item ids"
        )
        if self.ids is None or self.test_ids is None:
            return said
        said += (
            f": {self.ids[0]} to {self.ids[1]} in {self.where}, {self.test_ids[0]} to "
            f"{self.test_ids[1]} in {self.test_where}"
        )
        for name, (low, high), other in (
            (self.where, self.ids, self.test_ids),
            (self.test_where, self.test_ids, self.ids),
        ):
            if low in (0, 1) and high < other[1]:
                said += f". Those of {name} may be the numbers that a library gives to items"
        return said


def compare_item_ids(
    table: Table,
    test: Table,
    lists: CandidateLists,
    labels: FloatArray,
    row_of_list: IntArray,
    held_out: HeldOut,
) -> tuple[Note, ...]:
    """What is to be said of item ids of recommendations beside those of held-out items.

    Parameters
    ----------
    labels : (n_recommended,), above 0 where an item is held out for its user
    held_out : of all users
    """
    item_ids, wanted_ids = lists.item_ids, held_out.item_ids
    hits = int(np.count_nonzero(labels))
    expected = _hits_by_popularity(np.diff(lists.offsets), row_of_list, held_out)
    note = MismatchNote(table.where, test.where, hits, expected)
    if hits < expected:
        at = find_positions(wanted_ids, item_ids)
        n_wanted = np.zeros(len(item_ids) + int((at < 0).sum()))
        at = np.where(at < 0, len(item_ids) + np.cumsum(at < 0) - 1, at)
        n_wanted[at] = np.bincount(held_out.items, minlength=len(wanted_ids))
        n_shown = np.bincount(lists.items, minlength=len(n_wanted)).astype(np.float64)
        note = replace(
            note,
            by_others=(float(n_shown @ n_wanted) - hits) / max(1, lists.n_users - 1),
            is_unrelated=_are_unrelated(n_shown, n_wanted),
            ids=_range(item_ids),
            test_ids=_range(wanted_ids),
        )
    # held-out items that are not recommended, and recommended ones beside those that are both
    ids, wanted = comparable(item_ids, wanted_ids)
    both = wanted.filter(pl.Series(find_positions(wanted, ids) >= 0))
    return (
        find_spellings("item", wanted, test.where, ids, table.where),
        find_spellings("item", ids, table.where, both, test.where),
        note,
    )


def _hits_by_popularity(lengths: IntArray, row_of_list: IntArray, held_out: HeldOut) -> float:
    """Hits expected of lists drawn by popularity among other users, as long as these are."""
    n_pairs = len(held_out.items)
    if n_pairs < 2:
        return 0.0
    length = float(np.diff(held_out.offsets)[row_of_list] @ lengths) / n_pairs
    per_item = np.bincount(held_out.items)
    share = np.minimum((per_item - (per_item > 0)) / (n_pairs - 1), 1 - 1e-12)
    return float(per_item @ -np.expm1(length * np.log1p(-share)))


def _are_unrelated(n_shown: FloatArray, n_wanted: FloatArray) -> bool:
    is_there = (n_shown > 0) | (n_wanted > 0)
    shown, wanted = (one[is_there] - one[is_there].mean() for one in (n_shown, n_wanted))
    spread = float(shown @ shown)
    if spread <= _UNIFORM * n_shown.sum() or not wanted.any():
        return False
    return bool(abs(float(shown @ wanted)) < _UNRELATED * np.sqrt(spread * float(wanted @ wanted)))


def _range(ids: pl.Series) -> IdRange:
    if not len(ids) or not ids.dtype.is_integer():
        return None
    return int(ids.min()), int(ids.max())  # type: ignore[arg-type]
