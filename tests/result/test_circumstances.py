"""Circumstances in the result: what was given, what it took away, what differs unasked."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from pytest import approx

import fairrec
from fairrec.core.errors import InputError
from fairrec.search.options import SearchOptions

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
        values=VALUES,
        users=USERS,
        by="age,gender",
        better="served=higher",
        **{"permutations": 199, **options},
    )


RAW, GIVEN = audited(), audited(given="activity")


def test_what_was_given_is_named_with_its_strata():
    given = GIVEN.summary.given
    assert given.named == ("activity",)
    assert given.circumstances["activity"].n_values == 4
    assert (given.n_strata, given.n_users_alone) == (4, 0)
    assert given.n_not_comparable == {"served": 0}
    assert "given=['activity']" in GIVEN.summary.command


def test_a_finding_that_circumstances_explain_is_gone_and_named():
    by_age = [one for one in RAW.metric("served").findings if "age" in one.group]
    assert by_age and not any("age" in one.group for one in GIVEN.metric("served").findings)
    (gone,) = [one for one in GIVEN.summary.given.no_longer if [*one.group] == ["age"]]
    (raw,) = [one for one in by_age if one.group == gone.group]
    assert gone.raw_difference == approx(raw.difference)
    assert abs(gone.difference) < abs(gone.raw_difference) / 4
    # there are fewer old people among the active, who weigh less than they are many
    assert 0.8 < gone.kept_share < 0.9


def test_a_direct_difference_stays_with_both_numbers():
    (men,) = GIVEN.metric("served").findings
    assert men.group == {"gender": "M"}
    assert men.raw_difference == approx(
        RAW.groups("served").filter(gender="M", depth=1)["difference"][0]
    )
    assert men.difference == approx(-0.8, abs=0.2)
    assert 0.98 < men.kept_share <= 1.0


@pytest.mark.parametrize(
    "how", [SearchOptions("adaptive"), SearchOptions("exact", budget_users="50%")]
)
def test_a_search_of_some_users_is_refused(how):
    predictions = pl.DataFrame(
        {
            "user_id": [1, 1, 2, 2],
            "item_id": [1, 2, 1, 2],
            "score": [1, 2, 2, 1],
            "label": [1, 0] * 2,
        }
    )
    users = pl.DataFrame({"user_id": [1, 2], "gender": ["F", "M"]})
    options = {"users": users, "by": "gender", "given": "list_length", "metrics": "mrr@5"}
    with pytest.raises(InputError, match="everyone has to be scored"):
        fairrec.audit(predictions, search=how, **options)
    scored = fairrec.audit(predictions, search="exact", min_support=1, **options)
    assert scored.summary.given is not None


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
    result = fairrec.audit(predictions, users=users, by="age", metrics="hit@5", permutations=199)
    (one,) = result.summary.circumstances
    (finding,) = result.metric("hit@5").findings
    assert (one.metric, one.group, one.circumstance) == ("hit@5", finding.group, "list_length")
    n_rows = predictions.group_by("user_id").len().join(users, on="user_id")
    means = dict(n_rows.group_by("age").agg(pl.col("len").mean()).rows())
    assert (one.mean, one.mean_of_others) == (approx(means["60+"]), approx(means["younger"]))
    assert one.difference == finding.difference
    assert one.explains / one.difference > 0.5
    given = fairrec.audit(
        predictions, users=users, by="age", metrics="hit@5", given="list_length", permutations=199
    )
    assert given.metric("hit@5").findings == () and given.summary.circumstances == ()


def test_lists_that_nobody_else_has_are_told_by_their_chance_level():
    predictions, users = lists(50, 10, share=0.0)
    options = {"users": users, "by": "age", "metrics": "hit@5", "permutations": 199}
    (one,) = fairrec.audit(predictions, **options).summary.circumstances
    assert (one.mean, one.mean_of_others, one.explains) == (50, 10, None)
    assert one.at_random == (approx(5 / 50, abs=0.1), approx(5 / 10, abs=0.1))
    given = fairrec.audit(predictions, given="list_length", **options).summary
    (gone,) = given.given.no_longer
    assert (gone.difference, gone.kept_share) == (None, 0.0)
    assert given.given.n_not_comparable == {"hit@5": 2}
    assert given.outcome == "inconclusive"
