from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from fairrec_paper.datasets.bundle import read_bundle, write_bundle
from fairrec_paper.models.data import training_data
from tests.fairrec_paper.models.small_bundle import small_bundle


@pytest.fixture
def bundle(tmp_path):
    write_bundle(small_bundle(), tmp_path / "bundle")
    return read_bundle(tmp_path / "bundle")


def test_candidates_are_items_the_user_never_touched_and_the_target(bundle):
    data = training_data(bundle, n_candidates=20)
    touched = set(
        zip(*(bundle.interactions[c].to_list() for c in ("user_id", "item_id")), strict=True)
    )
    for targets in (data.test, data.validation):
        assert (targets.is_target.sum(axis=1) == 1).all()
        assert targets.is_target[:, 0].mean() < 0.3
        for user, items, is_target in zip(
            targets.users, targets.items, targets.is_target, strict=True
        ):
            assert len(set(items.tolist())) == 20
            for item, target in zip(items, is_target, strict=True):
                pair = (bundle.users["user_id"][int(user)], bundle.items["item_id"][int(item)])
                assert (pair in touched) == bool(target)


def test_training_rows_held_out_rows_and_targets_do_not_overlap(bundle):
    data = training_data(bundle)
    n_items = bundle.items.height
    parts = [
        set((users * n_items + items).tolist())
        for users, items in (
            (data.users, data.items),
            (data.holdout_users, data.holdout_items),
            (data.test.users, data.test.items[data.test.is_target].astype(np.int64)),
            (
                data.validation.users,
                data.validation.items[data.validation.is_target].astype(np.int64),
            ),
        )
    ]
    assert sum(map(len, parts)) == len(set.union(*parts)) == bundle.interactions.height
    assert len(parts[1]) / (len(parts[0]) + len(parts[1])) == pytest.approx(0.2, abs=0.03)
    history = pl.DataFrame(data.history)
    assert history.height == len(parts[0]) + len(parts[1])
