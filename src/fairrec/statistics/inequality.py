"""How unequal values are: between users and groups of them, and over the items of a catalogue.

Raj and Ekstrand (2022) compare such measures. Attention-weighted rank fairness is one minus the
Jensen-Shannon divergence, in bits, between the attention that a list gives to the values of an
attribute and a target, averaged over lists (Sapiezynski et al. 2019; the distance as in the TREC
2021 fair ranking track). Expected-exposure loss is the squared distance between the attention that
items get in a list and that in its ideal order, averaged over lists (Diaz et al. 2020).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from pydantic import BaseModel, Field
from scipy.special import xlogy

from fairrec.core.arrays import FloatArray, IntArray, finite_or_none
from fairrec.core.kernels import kernel
from fairrec.core.threads import map_in_threads
from fairrec.groups.cells import Cells
from fairrec.groups.group import GroupValue
from fairrec.groups.grouping import Grouping, Partition
from fairrec.inputs.catalogue import ExposureLog
from fairrec.inputs.users import Attribute, Value
from fairrec.metrics.direction import badness
from fairrec.metrics.item_exposure import discounts
from fairrec.metrics.item_metrics import due_to_relevance, ideal_exposure, knows_relevance, places
from fairrec.metrics.measured import Column, Measured

_LARGE = 20
"""Users of a group, in squared coefficients of variation, from which a formula tells chance."""
_DRAWN_GROUPS, _DRAWN_USERS = 200, 1_000_000
"""How many smaller groups are drawn at random, and of how many users at most."""


WhyNot = Literal[
    "not everyone is scored",
    "nobody has a value",
    "some values are negative",
    "everyone has 0",
    "neither end is better",
    "lower is better",
    "it is no mean over users",
    "items compete for places",
]


def why_no_ratio(known: FloatArray, is_complete: bool) -> WhyNot | None:
    """Why values have no ratios; None where they have.

    Parameters
    ----------
    known : the values of the users who have one
    is_complete : whether everyone is scored
    """
    if not is_complete:
        return "not everyone is scored"
    if not len(known):
        return "nobody has a value"
    if known.min() < 0:
        return "some values are negative"
    return "everyone has 0" if known.max() == 0 else None


def count_and_sum(column: Column, cells: Cells) -> tuple[FloatArray, FloatArray]:
    """(n_cells,) each, users with a value and the sum of their values."""
    return cells.sums(column.n), cells.sums(column.filled * column.n)


class Split(BaseModel, frozen=True, extra="forbid"):
    """The Theil index between the groups of a partition of all users, and within them."""

    attributes: tuple[str, ...]
    n_groups: int = Field(description="of any size, '(missing)' among them")
    between: float = Field(description="Theil index if everyone had the mean of the group")
    within: float = Field(description="Theil index less between")
    share_between: float | None = Field(description="null where everyone has the same value")
    share_by_chance: float | None = Field(
        description="what share_between is on average where values have nothing to do with groups"
    )
    worst_off: GroupValue | None = Field(
        description="the worst served group of the smallest size or more; null without any, and "
        "where neither end is better"
    )


class Inequality(NamedTuple):
    """How unequal the values of one metric are; all 0 where everyone has the same.

    Parameters
    ----------
    why_not : why it cannot be told
    splits : one for each partition
    """

    why_not: WhyNot | None
    gini: float | None = None
    theil: float | None = None
    splits: tuple[Split, ...] = ()


def gini(values: FloatArray, n: FloatArray | None = None) -> float:
    """Half of the mean distance between two users, over the mean.

    Parameters
    ----------
    n : users who have each value; None where each is a user's

    >>> import numpy as np
    >>> gini(np.array([0.0, 0.0, 0.0, 1.0])), gini(np.array([0.0, 1.0]), np.array([3.0, 1.0]))
    (0.75, 0.75)
    """
    n = np.ones(len(values)) if n is None else n
    order = np.argsort(values, kind="stable")
    values, n = values[order], n[order]
    n_up_to = np.cumsum(n)
    # users below minus users above
    rank = 2 * n_up_to - n - n_up_to[-1]
    return float((rank * n * values).sum() / (n_up_to[-1] * (n * values).sum()))


def theil(values: FloatArray, weights: FloatArray | None = None) -> float:
    """Theil's T: the mean of `r log r`, where r is a value over the mean; 0 log 0 is 0."""
    if values.min() == values.max():
        return 0.0  # their mean may miss them by the last digit
    ratio = values / np.average(values, weights=weights)
    return max(0.0, float(np.average(xlogy(ratio, ratio), weights=weights)))


def between_by_chance(
    values: FloatArray, relative: float, sizes: IntArray, n_all: int | None = None
) -> float:
    """The Theil index between random groups of these sizes, on average.

    It is a mean over groups of a function of their size alone. For large groups that is half of
    the relative variance of their mean; small ones are drawn.

    Parameters
    ----------
    values : in random order, so that whoever stand side by side are a random group
    relative : their variance over the square of their mean
    n_all : users in all, where the values are those of some of them
    """
    n = n_all or len(values)
    is_large = sizes >= _LARGE * max(1.0, relative)
    expected = relative / 2 * ((1 - (sizes[is_large] - 1) / max(1, n - 1)).sum() / n)
    small = sizes[~is_large]
    if not len(small):
        return float(expected)
    n_users = int(small.sum())
    n_draws = min(math.ceil(_DRAWN_GROUPS / len(small)), max(1, _DRAWN_USERS // n_users))
    drawn = np.resize(values, n_draws * n_users)
    size = np.tile(small, n_draws)
    starts = np.cumsum(size) - size
    ratio = np.add.reduceat(drawn, starts) / size / values.mean()
    # r log r - r + 1 has the same mean and is never negative, so that few draws scatter less
    excess = xlogy(ratio, ratio) - ratio + 1
    return float(expected + size @ excess / (n_draws * n))


def measure_inequality(
    i: int, measured: Measured, grouping: Grouping, partitions: Sequence[Partition], seed: int
) -> Inequality:
    """How unequal the values of a metric are, and how much of it lies between groups."""
    column = measured.column(i)
    known, n_known, n_users = column.known, column.n_known, int(column.n_users)
    why_not = why_no_ratio(known, measured.is_complete)
    if why_not is None and not measured.is_mean(i):
        why_not = "it is no mean over users"
    if why_not is not None:
        return Inequality(why_not)
    n_per_cell, total_per_cell = count_and_sum(column, grouping.cells)
    mean_of_all, of_all = column.mean, theil(known, n_known)
    relative = float(
        ((known / mean_of_all - 1) ** 2 @ n_known + column.inner.sum() / mean_of_all / mean_of_all)
        / n_users
    )
    rng = np.random.default_rng([seed, i])
    shuffled = (
        rng.permutation(known)
        if measured.alike is None
        else rng.choice(known, min(n_users, _DRAWN_USERS), p=n_known / n_users)
    )
    better = measured.metrics[i].metric.higher_is_better

    def split(partition: Partition) -> Split:
        n, total = partition.sums(n_per_cell), partition.sums(total_per_cell)
        groups = np.flatnonzero(n > 0)
        n, mean = n[groups], total[groups] / n[groups]
        between = theil(mean, n)
        by_chance = between_by_chance(shuffled, relative, n.astype(np.int64), n_users)
        worst = _worst(mean, n, grouping.min_users, better)
        return Split(
            attributes=partition.names,
            n_groups=len(groups),
            between=between,
            within=max(0.0, of_all - between),
            share_between=min(1.0, between / of_all) if of_all else None,
            share_by_chance=min(1.0, by_chance / of_all) if of_all else None,
            worst_off=None
            if worst is None
            else GroupValue(
                group=partition.group(int(groups[worst])).as_dict(),
                value=float(mean[worst]),
                support=int(n[worst]),
            ),
        )

    return Inequality(
        None,
        finite_or_none(gini(known, n_known)),
        finite_or_none(of_all),
        tuple(map(split, partitions)),
    )


def _worst(
    mean: FloatArray, n: FloatArray, min_users: int, higher_is_better: bool | None
) -> int | None:
    """The worst served group of those with enough users, of equal ones the largest."""
    large = np.flatnonzero(n >= min_users)
    if higher_is_better is None or not len(large):
        return None
    bad = badness(mean[large], higher_is_better)
    return int(large[np.lexsort((-n[large], -bad))[0]])


MOST_VALUES = 50
"""Of an attribute that are told, those of most items."""


class ItemsShown(BaseModel, frozen=True, extra="forbid"):
    """Items that some list shows."""

    n_items: int
    n_shown: int = Field(description="in the first k places of any list")


class Representation(BaseModel, frozen=True, extra="forbid"):
    """How one attribute is represented.

    Attention-weighted rank fairness is 1 where every list meets the target.
    """

    to_catalogue: float | None = Field(description="target: the share of items with each value")
    to_relevance: float | None = Field(
        description="target: the attention due to them; null where nobody knows what users wanted"
    )
    shown: dict[str, ItemsShown] = Field(
        default_factory=dict, description=f"by value, the {MOST_VALUES} of most items"
    )


class CatalogueExposure(BaseModel, frozen=True, extra="forbid"):
    """How the first k places of lists are spread over the items of the catalogue."""

    k: int
    n_lists: int
    n_items: int
    n_shown: int = Field(description="items in the first k places of any list")
    gini: float = Field(description="of the attention that items get; 0 where all get the same")
    expected_exposure_loss: float | None = Field(
        description="squared distance from the ideal order, mean over lists; null where nobody "
        "knows what users wanted"
    )
    representation: dict[str, Representation] = Field(description="by attribute")


def measure_spread(
    shown: ExposureLog, k: int, attributes: Sequence[Attribute], threads: int = 1
) -> CatalogueExposure:
    """The measures at one depth.

    Parameters
    ----------
    attributes : of the units of the catalogue
    """
    n_items = len(shown.catalogue.item_keys)
    received = places(shown, discounts(k))
    per_item = received.per_item(n_items)
    due = _due_per_item(shown, k, n_items) if shown.has_relevance else None
    of_item = shown.catalogue.unit_of_item

    def representation(attribute: Attribute) -> Representation:
        codes = attribute.codes[of_item].astype(np.int64)
        n_values = len(attribute.values)
        targets = [np.ones(n_items)] + ([] if due is None else [due])
        found = [
            _awrf(received.items, discounts(k), np.append(codes, n_values), weights)
            for weights in (np.bincount(codes, one, n_values).astype(np.float64) for one in targets)
        ]
        return Representation(
            to_catalogue=found[0],
            to_relevance=None if due is None else found[1],
            shown=items_by_value(
                attribute.values,
                np.bincount(codes, minlength=n_values),
                np.bincount(codes[per_item > 0], minlength=n_values),
            ),
        )

    names = (attribute.name for attribute in attributes)
    return CatalogueExposure(
        k=k,
        n_lists=int((np.diff(shown.candidates.offsets) > 0).sum()),
        n_items=n_items,
        n_shown=int((per_item > 0).sum()),
        gini=gini(per_item) if per_item.any() else 0.0,
        expected_exposure_loss=_loss(shown, k) if shown.has_relevance else None,
        representation=dict(
            zip(names, map_in_threads(representation, attributes, threads), strict=True)
        ),
    )


def items_by_value(
    values: Sequence[Value], n_items: IntArray, n_shown: IntArray
) -> dict[str, ItemsShown]:
    """Items of each value, and those shown; of very many values those of most items."""
    most = sorted(np.argsort(-n_items, kind="stable")[:MOST_VALUES])
    return {
        str(values[at]): ItemsShown(n_items=int(n_items[at]), n_shown=int(n_shown[at]))
        for at in most
        if n_items[at]
    }


def _due_per_item(shown: ExposureLog, k: int, n_items: int) -> FloatArray:
    total = np.zeros(n_items)
    for part in due_to_relevance(shown, k):
        total += part.per_item(n_items)
    return np.maximum(total, 0.0)


def _awrf(
    items: IntArray, per_place: FloatArray, value_of: IntArray, target: FloatArray
) -> float | None:
    """Mean over lists with an item of the catalogue; None without any."""
    if not target.sum():
        return None
    total, n_lists = _divergences(items, per_place, value_of, target / target.sum())
    return float(1 - total / n_lists) if n_lists else None


def _loss(shown: ExposureLog, k: int) -> float:
    ideal, is_known = ideal_exposure(shown, k), knows_relevance(shown)
    received = places(shown, discounts(k), is_known)
    n_items = len(shown.catalogue.item_keys)
    due = np.where(ideal.rows.items < n_items, ideal.due, 0.0)
    squares = float((due**2).sum() + (ideal.n_others * ideal.to_others**2).sum())
    squares += _against_ideal(
        received.items, received.amounts, k, *ideal.rows, ideal.due, ideal.to_others, n_items
    )
    return squares / max(1.0, float(is_known.sum()))


@kernel
def _divergences(
    items: IntArray, per_place: FloatArray, value_of: IntArray, target: FloatArray
) -> tuple[float, int]:
    """The sum over lists of the divergence in bits, and how many lists count."""
    k, n_values = len(per_place), len(target)
    given = np.zeros(n_values + 1)
    total, n_lists = 0.0, 0
    for first in range(0, len(items), k):
        given[:] = 0.0
        for place in range(k):
            given[value_of[items[first + place]]] += per_place[place]
        whole = given[:n_values].sum()
        if whole == 0:
            continue
        n_lists += 1
        for value in range(n_values):
            share, aim = given[value] / whole, target[value]
            middle = (share + aim) / 2
            if share > 0:
                total += share * np.log2(share / middle) / 2
            if aim > 0:
                total += aim * np.log2(aim / middle) / 2
    return total, n_lists


@kernel
def _against_ideal(
    items: IntArray,
    amounts: FloatArray,
    k: int,
    offsets: IntArray,
    ideal_items: IntArray,
    due: FloatArray,
    to_others: FloatArray,
    n_items: int,
) -> float:
    """The sum over places of received (received - 2 due), which squares of both sides lack."""
    owner = np.full(n_items + 1, -1, dtype=np.int64)
    is_due = np.zeros(n_items + 1)
    total = 0.0
    for one in range(len(offsets) - 1):
        for row in range(offsets[one], offsets[one + 1]):
            owner[ideal_items[row]] = one
            is_due[ideal_items[row]] = due[row]
        for place in range(one * k, (one + 1) * k):
            item, received = items[place], amounts[place]
            if item < n_items:
                wanted = is_due[item] if owner[item] == one else to_others[one]
                total += received * (received - 2 * wanted)
    return total
