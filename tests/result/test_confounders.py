"""Covariates in the result: what was given, what it took away, what differs unasked."""

from __future__ import annotations

import numpy as np
import polars as pl
from pytest import approx

import fairrec
from tests.grouped_options import group_options

N_USERS = 1200


def tables(seed: int = 0):
    """Old users are less active; values grow with activity, and are lower for men."""
    rng = np.random.default_rng(seed)
    is_old = rng.random(N_USERS) < 0.3
    activity = rng.integers(0, 4, N_USERS) * ~(is_old & (rng.random(N_USERS) < 0.6))
    is_man = rng.random(N_USERS) < 0.5
    users = pl.DataFrame(
        {
            "user_id": range(N_USERS),
            "age": np.where(is_old, "old", "young"),
            "gender": np.where(is_man, "M", "F"),
            "activity": activity,
        }
    )
    values = activity - 0.8 * is_man + rng.normal(size=N_USERS)
    return users, pl.DataFrame({"user_id": range(N_USERS), "served": values})


USERS, VALUES = tables()


def audited(**options):
    return fairrec.audit(
        **group_options(
            values=VALUES,
            users=USERS,
            by="age,gender",
            better="served=higher",
            **{"permutations": 199, **options},
        ),
    )


RAW, GIVEN = audited(), audited(adjust_for="activity")


def test_a_finding_that_covariates_explain_is_gone_and_named():
    by_age = [one for one in RAW.metric("served").findings if "age" in one.group]
    assert by_age and not any("age" in one.group for one in GIVEN.metric("served").findings)
    (gone,) = [one for one in GIVEN.summary.adjustment.no_longer if [*one.group] == ["age"]]
    (raw,) = [one for one in by_age if one.group == gone.group]
    assert gone.raw_difference == approx(raw.difference)
    assert abs(gone.difference) < abs(gone.raw_difference) / 4
    # there are fewer old people among the active, who weigh less than they are many
    assert 0.8 < gone.kept_share < 0.9


def lists(n_of_group: int, n_elsewhere: int, share: float):
    """Random lists, longer for most users of a group and a share of all others."""
    rng = np.random.default_rng(0)
    is_member = np.arange(600) < 120
    is_long = np.where(is_member, rng.random(600) < 1 - share, rng.random(600) < share)
    n_rows = np.where(is_long, n_of_group, n_elsewhere)
    user = np.repeat(np.arange(600), n_rows)
    place = np.concatenate([np.arange(n) for n in n_rows])
    label = (place == 0).astype(int)
    predictions = pl.DataFrame(
        {"user_id": user, "item_id": place, "score": rng.random(len(user)), "label": label}
    )
    users = pl.DataFrame({"user_id": range(600), "age": np.where(is_member, "60+", "younger")})
    return predictions, users


def test_lists_that_are_longer_for_a_group_are_told_with_what_they_make():
    predictions, users = lists(50, 10, share=0.2)
    result = fairrec.audit(
        predictions,
        users=users,
        by="age",
        metrics="hit@5",
        statistics=fairrec.Statistics(permutations=199),
    )
    (one,) = result.summary.confounders
    (finding,) = result.metric("hit@5").findings
    assert (one.metric, one.group, one.covariate) == ("hit@5", finding.group, "list_length")
    n_rows = predictions.group_by("user_id").len().join(users, on="user_id")
    means = dict(n_rows.group_by("age").agg(pl.col("len").mean()).rows())
    assert (one.mean, one.mean_of_others) == (approx(means["60+"]), approx(means["younger"]))
    assert one.difference == finding.difference
    assert one.explains / one.difference > 0.5
    given = fairrec.audit(
        predictions,
        users=users,
        by="age",
        metrics="hit@5",
        adjust_for="list_length",
        statistics=fairrec.Statistics(permutations=199),
    )
    assert given.metric("hit@5").findings == () and given.summary.confounders == ()
