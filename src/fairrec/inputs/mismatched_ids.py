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
from fairrec.inputs.ids import find_positions
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
        return (
            f"{CHECK_FIRST}the lists in {self.where} hit {self.hits:,} held-out items. Lists drawn "
            f"at random by popularity in {self.test_where} would hit about "
            f"{self.by_popularity:,.0f}, and these lists, given to other users, "
            f"{self.by_others:,.0f}. Check that both tables have the same item ids: a library may "
            "have numbered items by itself"
        )


def compare_item_ids(
    table: Table,
    test: Table,
    lists: CandidateLists,
    labels: FloatArray,
    row_of_list: IntArray,
    held_out: HeldOut,
) -> Note:
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
        )
    return note


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
