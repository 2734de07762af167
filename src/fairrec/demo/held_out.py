"""A held-out item of each user in a list of sampled others, and the interactions to train on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, CodeArray, IntArray
from fairrec.core.errors import InputError
from fairrec.core.options import spell
from fairrec.inputs.ids import known_positions


@dataclass(frozen=True, slots=True)
class Split:
    """Positive interactions in three parts.

    Parameters
    ----------
    train, validation, test : `user_id`, `item_id` and what else the interactions have
    """

    train: pl.DataFrame
    validation: pl.DataFrame
    test: pl.DataFrame


def split_last(positives: pl.DataFrame, seed: int = 0) -> Split:
    """The last positive interaction of a user is the test target, the one before it validates.

    A user of whose interactions some have no time gets them in random order: which times are
    missing may depend on what happened, and so would the targets. Equal times keep the order
    of the rows. At least one interaction stays for training, so a user with two has no
    validation target.
    """
    rng = np.random.default_rng([seed, 1])
    where_timed = pl.when(pl.col("time").is_not_null().all().over("user_id"))
    draw = pl.Series(rng.random(positives.height))
    ordered = positives.sort(
        "user_id",
        where_timed.then(pl.col("time")),
        where_timed.then(0.0).otherwise(draw),
        maintain_order=True,
    )
    n = pl.len().over("user_id")
    from_end = n - 1 - pl.int_range(pl.len()).over("user_id")
    is_test = (from_end == 0) & (n >= 2)
    is_validation = (from_end == 1) & (n >= 3)
    return Split(
        train=ordered.filter(~is_test & ~is_validation),
        validation=ordered.filter(is_validation),
        test=ordered.filter(is_test),
    )


class NegativeSampler:
    """Draws items that a user never interacted with.

    Parameters
    ----------
    users, items : codes of all interactions, positive or not, of training and targets alike
    """

    def __init__(self, users: IntArray, items: IntArray, n_users: int, n_items: int) -> None:
        order = np.lexsort((items, users))
        self.n_items = n_items
        self.items = items[order].astype(np.int32)
        self.pairs = users[order].astype(np.int64) * n_items + self.items
        self.offsets = np.concatenate([[0], np.cumsum(np.bincount(users, minlength=n_users))])

    def draw_lists(self, users: IntArray, n: int, rng: np.random.Generator) -> CodeArray:
        """(n_rows, n), different items in each row, none the row's user interacted with."""
        n_free = self.n_items - np.diff(self.offsets)[users]
        if len(users) and n_free.min() < n:
            raise InputError(
                f"A user interacted with all but {n_free.min()} of {self.n_items} items, too few "
                f"for {n} sampled others. Ask for fewer candidates or drop that user."
            )
        drawn = np.empty((len(users), n), dtype=np.int32)
        # drawing again would take long for users who know most items
        crowded = n_free < max(2 * n, self.n_items // 10)
        for row in np.flatnonzero(crowded):
            known = self.items[self.offsets[users[row]] : self.offsets[users[row] + 1]]
            free = np.setdiff1d(np.arange(self.n_items, dtype=np.int32), known)
            drawn[row] = rng.choice(free, n, replace=False)
        rows = np.flatnonzero(~crowded)
        drawn[rows] = rng.integers(0, self.n_items, (len(rows), n), dtype=np.int32)
        while len(rows):
            is_bad = self._is_known(users[rows], drawn[rows]) | _is_repeated(drawn[rows])
            where, place = np.nonzero(is_bad)
            drawn[rows[where], place] = rng.integers(0, self.n_items, len(where), dtype=np.int32)
            rows = rows[is_bad.any(axis=1)]
        return drawn

    def _is_known(self, users: IntArray, drawn: CodeArray) -> BoolArray:
        """(n_rows, n), items that the row's user interacted with."""
        pairs = users[:, None] * self.n_items + drawn
        at = np.minimum(np.searchsorted(self.pairs, pairs), len(self.pairs) - 1)
        return np.asarray(self.pairs[at] == pairs, dtype=np.bool_)


def _is_repeated(drawn: CodeArray) -> BoolArray:
    """(n_rows, n), items that stand earlier in the row."""
    order = np.argsort(drawn, axis=1, kind="stable")
    in_order = np.take_along_axis(drawn, order, axis=1)
    is_repeated = np.zeros(drawn.shape, dtype=bool)
    np.put_along_axis(is_repeated, order[:, 1:], in_order[:, 1:] == in_order[:, :-1], axis=1)
    return is_repeated


@dataclass(frozen=True, slots=True)
class Targets:
    """Candidate lists for one held-out item a user.

    Parameters
    ----------
    users : (n_lists,)
    items : (n_lists, n_candidates), the target and sampled others, in random order
    is_target : (n_lists, n_candidates)
    """

    users: IntArray
    items: CodeArray
    is_target: np.ndarray[tuple[int, int], np.dtype[np.bool_]]

    def table(self, users: pl.DataFrame, items: pl.DataFrame) -> pl.DataFrame:
        """`user_id, item_id, label`, one row a user; each item's text is there once."""
        item_ids = texts_once(items["item_id"]).gather(self.items.ravel().astype(np.int64))
        return pl.DataFrame(
            {
                "user_id": users["user_id"].gather(self.users),
                "item_id": item_ids.reshape(self.items.shape).arr.to_list(),
                "label": pl.Series(self.is_target.astype(np.int8)).arr.to_list(),
            }
        )


def texts_once(ids: pl.Series) -> pl.Series:
    """Ids as a table holds them cheaply: text as numbers of texts, of which each is there once."""
    return ids.cast(pl.Categorical) if ids.dtype == pl.String else ids


@dataclass(frozen=True, slots=True)
class SplitData:
    """Interactions to train on, and candidate lists for the held-out ones.

    Parameters
    ----------
    users, items : positive interactions to train on
    holdout_users, holdout_items : positive interactions kept out, as in the paper's protocol
    sampler : draws the negatives
    history : `user_id`, `item_id` of all training interactions, kept out or not
    """

    users: IntArray
    items: IntArray
    holdout_users: IntArray
    holdout_items: IntArray
    validation: Targets
    test: Targets
    sampler: NegativeSampler
    history: pl.DataFrame


def split_data(
    interactions: pl.DataFrame,
    users: pl.DataFrame,
    items: pl.DataFrame,
    all_positive: bool = False,
    holdout: float = 0.2,
    n_candidates: int = 50,
    seed: int = 0,
) -> SplitData:
    """Split interactions, keep out a share of the training rows, and draw the candidates.

    Parameters
    ----------
    interactions : `user_id`, `item_id`, `is_positive`, `time`
    users, items : tables with all of their ids
    all_positive : count every interaction as positive, whatever its rating
    """
    positives = interactions if all_positive else interactions.filter("is_positive")
    split = split_last(positives, seed)
    for part, n, use in ((split.test, "two", "test on"), (split.validation, "three", "stop by")):
        if part.is_empty():
            raise InputError(
                f"No user has {n} positive interactions, so there is nothing to {use}. Check the "
                f"data or count all interactions as positive: {spell('all_positive', True)}"
            )
    rng = np.random.default_rng([seed, 2])

    def codes(table: pl.DataFrame) -> tuple[IntArray, IntArray]:
        return (
            known_positions(table["user_id"], users["user_id"]),
            known_positions(table["item_id"], items["item_id"]),
        )

    # whatever a user touched, rated high or low, is no item they never interacted with
    sampler = NegativeSampler(*codes(interactions), users.height, items.height)
    train_users, train_items = codes(split.train)
    is_held_out = rng.random(len(train_users)) < holdout
    if is_held_out.all() or not is_held_out.any():
        raise InputError(
            f"A share of {holdout:g} of {len(train_users):,} training rows leaves nothing to "
            f"train on, or nothing to keep out. Choose another {spell('holdout')}."
        )

    def targets(part: pl.DataFrame) -> Targets:
        target_users, target_items = codes(part)
        others = sampler.draw_lists(target_users, n_candidates - 1, rng)
        lists = np.concatenate([target_items[:, None].astype(np.int32), others], axis=1)
        lists = rng.permuted(lists, axis=1)
        return Targets(target_users, lists, lists == target_items[:, None])

    return SplitData(
        users=train_users[~is_held_out],
        items=train_items[~is_held_out],
        holdout_users=train_users[is_held_out],
        holdout_items=train_items[is_held_out],
        validation=targets(split.validation),
        test=targets(split.test),
        sampler=sampler,
        history=split.train.select("user_id", "item_id"),
    )
