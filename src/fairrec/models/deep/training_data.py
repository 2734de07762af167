"""A bundle as arrays of positions: what is trained on, and the candidates of both targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from fairrec.core.arrays import CodeArray, IntArray
from fairrec.core.errors import InputError
from fairrec.core.options import spelled
from fairrec.datasets.bundle import Bundle
from fairrec.datasets.negatives import NegativeSampler
from fairrec.datasets.split import split_last
from fairrec.inputs.ids import known_positions
from fairrec.models.deep.features import FeatureTables, feature_tables


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

    def table(self, bundle: Bundle) -> pl.DataFrame:
        """`user_id, item_id, label`, one row a user; each item's text is there once."""
        item_ids = texts_once(bundle.items["item_id"]).gather(self.items.ravel().astype(np.int64))
        return pl.DataFrame(
            {
                "user_id": bundle.users["user_id"].gather(self.users),
                "item_id": item_ids.reshape(self.items.shape).arr.to_list(),
                "label": pl.Series(self.is_target.astype(np.int8)).arr.to_list(),
            }
        )


def texts_once(ids: pl.Series) -> pl.Series:
    """Ids as a table holds them cheaply: text as numbers of texts, of which each is there once."""
    return ids.cast(pl.Categorical) if ids.dtype == pl.String else ids


@dataclass(frozen=True, slots=True)
class TrainingData:
    """All that training and its evaluation need.

    Parameters
    ----------
    users, items : positive interactions to train on
    holdout_users, holdout_items : positive interactions kept out, as in the paper's protocol
    sampler : draws the negatives
    history : `user_id`, `item_id` of all training interactions, kept out or not
    n_too_short : users without a target
    """

    features: FeatureTables
    users: IntArray
    items: IntArray
    holdout_users: IntArray
    holdout_items: IntArray
    validation: Targets
    test: Targets
    sampler: NegativeSampler
    history: pl.DataFrame
    n_too_short: int


def training_data(
    bundle: Bundle,
    all_positive: bool = False,
    holdout: float = 0.2,
    n_candidates: int = 50,
    seed: int = 0,
    features: Sequence[str] | None = None,
) -> TrainingData:
    """Split a bundle, keep out a share of the training rows, and draw the candidates.

    Parameters
    ----------
    all_positive : count every interaction as positive, whatever its rating
    features : what models see, see `feature_tables`
    """
    interactions = bundle.interactions
    positives = interactions if all_positive else interactions.filter("is_positive")
    split = split_last(positives, seed)
    if split.test.is_empty():
        raise InputError(
            "No user has two positive interactions, so there is nothing to test on. "
            f"Check the data or count all interactions as positive: {spelled('all_positive', True)}"
        )
    if split.validation.is_empty():
        raise InputError(
            "No user has three positive interactions, so there is no validation target to stop "
            "training by. Check the data or count all interactions as positive: "
            f"{spelled('all_positive', True)}"
        )
    rng = np.random.default_rng([seed, 2])

    def codes(table: pl.DataFrame) -> tuple[IntArray, IntArray]:
        return (
            known_positions(table["user_id"], bundle.users["user_id"]),
            known_positions(table["item_id"], bundle.items["item_id"]),
        )

    # whatever a user touched, rated high or low, is no item they never interacted with
    sampler = NegativeSampler(*codes(interactions), bundle.users.height, bundle.items.height)
    users, items = codes(split.train)
    is_held_out = rng.random(len(users)) < holdout
    if is_held_out.all() or not is_held_out.any():
        raise InputError(
            f"A share of {holdout:g} of {len(users):,} training rows leaves nothing to train on, "
            f"or nothing to keep out. Choose another {spelled('holdout')}."
        )

    def targets(part: pl.DataFrame) -> Targets:
        target_users, target_items = codes(part)
        others = sampler.draw_lists(target_users, n_candidates - 1, rng)
        lists = np.concatenate([target_items[:, None].astype(np.int32), others], axis=1)
        lists = rng.permuted(lists, axis=1)
        return Targets(target_users, lists, lists == target_items[:, None])

    return TrainingData(
        features=feature_tables(bundle.users, bundle.items, bundle.manifest.attributes, features),
        users=users[~is_held_out],
        items=items[~is_held_out],
        holdout_users=users[is_held_out],
        holdout_items=items[is_held_out],
        validation=targets(split.validation),
        test=targets(split.test),
        sampler=sampler,
        history=split.train.select("user_id", "item_id"),
        n_too_short=split.n_too_short,
    )
