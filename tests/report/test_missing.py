"""Users without a list, a value or an attribute, in sentences."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.report.missing import (
    describe_unknown,
    missing_lines,
    remedy,
    unknown_lines,
    why_inconclusive,
)
from fairrec.result.schema import AuditSummary
from tests.builders import one_each
from tests.grouped_options import group_options

N_USERS = 60
USERS = pl.DataFrame({"user_id": range(N_USERS), "group": [f"g{i % 3}" for i in range(N_USERS)]})
IS_G0 = np.arange(N_USERS) % 3 == 0
SPREAD = np.arange(N_USERS) < 6


def summary_of(**options):
    given = {"users": USERS, "by": "group", "permutations": 99, "min_support": 2, **options}
    return fairrec.audit(**group_options(**given)).summary


def labelled(is_missing):
    return one_each({user: None if missing else 1 for user, missing in enumerate(is_missing)})


def served(is_missing) -> dict[str, pl.DataFrame]:
    ids = np.arange(N_USERS)
    lists = {"user_id": ids[~is_missing], "item_id": [[1, 2]] * int((~is_missing).sum())}
    return {
        "predictions": pl.DataFrame(lists),
        "test": pl.DataFrame({"user_id": ids, "item_id": [1] * N_USERS}),
    }


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            {"predictions": labelled(SPREAD), "metrics": "mrr"},
            "mrr@5 is undefined for 6 of 60 users (10%), who have no relevant item among their "
            "candidates and are left out there. ",
        ),
        (
            {"predictions": labelled(SPREAD), "metrics": "mrr,auc"},
            "mrr@5, auc are undefined for 6 of 60 users (10%), who have no relevant item among "
            "their candidates and are left out there. ",
        ),
        (
            {"predictions": labelled(SPREAD).filter(pl.col("user_id") >= 6), "metrics": "mrr"},
            "6 of 60 users (10%) of the users table have no predictions and are left out. ",
        ),
        (
            served(SPREAD),
            "6 of 60 users (10%) with held-out items got no list, and count as 0 in accuracy and "
            "coverage. ",
        ),
        (
            {**served(SPREAD), "missing_lists": "drop"},
            "6 of 60 users (10%) with held-out items got no list and are left out. ",
        ),
        (
            {"values": USERS.with_columns(x=pl.col("user_id"))[6:], "metrics": "x"},
            "6 of 60 users (10%) have no row in the table of values and are left out. ",
        ),
        (
            {"values": USERS.select("user_id", x=pl.when(pl.col("user_id") >= 6).then("user_id"))},
            "x is undefined for 6 of 60 users (10%), who are left out there. ",
        ),
    ],
    ids=["label", "labels", "predictions", "zero", "drop", "values", "null"],
)
def test_who_is_missing_is_counted_and_groups_that_are_alike_are_said_to_be(options, says):
    (line,) = missing_lines(summary_of(**options))
    assert line == (
        f"{says}Groups do not differ significantly in it (from 10% for group=g2 to 10% for "
        "group=g0)."
    )


def test_what_helps_items_without_a_value_is_said_and_helps():
    rng = np.random.default_rng(0)
    pairs = [(user, item) for user in range(40) for item in rng.choice(20, 4, replace=False)]
    scored = pl.DataFrame(pairs, schema=["user_id", "item_id"], orient="row").with_columns(
        score=pl.Series(rng.random(160)), label=pl.Series(rng.integers(0, 2, 160))
    )
    # the last items are candidates of no list
    given = {
        "items": pl.DataFrame({"item_id": range(27), "kind": ["a", "b", "c"] * 9}),
        "by": "kind",
        "side": "items",
        "min_support": 1,
        "permutations": 99,
    }
    summary = fairrec.audit(scored, **group_options(**given)).summary
    name = next(name for name in summary.metrics if name.startswith("exposure@"))
    assert not summary.metrics[name].is_conclusive
    advice = remedy(name, summary)
    assert "Leave them out of the items table" in advice
    assert advice.endswith("statistics=fairrec.Statistics(max_undefined=0.26)")
    helped = fairrec.audit(scored, **group_options(**given, max_undefined=0.26)).summary
    assert helped.metrics[name].is_conclusive
    ratio = next(name for name in summary.metrics if name.startswith("exposure_to"))
    assert summary.metrics[ratio].is_conclusive and summary.metrics[ratio].n_undefined == 0


def test_a_group_that_is_missing_is_contrasted_with_all_others():
    summary = summary_of(predictions=labelled(IS_G0), metrics="mrr")
    assert (
        "33% of users have no value (up to 5% would be let pass), and 100% of group=g0 have no "
        "value, against 0% of all others."
    ) in why_inconclusive("mrr@5", summary.metrics["mrr@5"], summary)
    without = labelled(np.zeros(N_USERS, dtype=bool)).filter(pl.col("user_id") % 3 != 0)
    summary = summary_of(predictions=without, metrics="mrr")
    said = why_inconclusive("mrr@5", summary.metrics["mrr@5"], summary)
    assert "but 100% of group=g0 got no list, against 0% of all others." in said
    assert remedy("mrr@5", summary) == (
        "If these users were never to be served, leave them out of the users table; if they were, "
        "give the held-out interactions (test=...)."
    )


N_UNKNOWN_USERS = 400
RNG = np.random.default_rng(0)
GENDER = np.where(np.arange(N_UNKNOWN_USERS) % 2 == 0, "F", "M")
UNKNOWN_USERS = pl.DataFrame(
    {"user_id": range(N_UNKNOWN_USERS), "gender": GENDER, "age": ["old"] * N_UNKNOWN_USERS}
)


def with_unknown(n_unknown: int) -> AuditSummary:
    """Women have lower values; the gender of the first users is not known."""
    genders = [None] * n_unknown + GENDER[n_unknown:].tolist()
    values = 0.5 - 0.2 * (GENDER == "F") + 0.05 * RNG.random(N_UNKNOWN_USERS)
    return fairrec.audit(
        values=pl.DataFrame({"user_id": range(N_UNKNOWN_USERS), "m0": values}),
        users=UNKNOWN_USERS.with_columns(gender=pl.Series(genders, dtype=pl.String)),
        by="gender,age",
        tables=fairrec.Tables(better="m0=higher"),
        statistics=fairrec.Statistics(permutations=99),
        min_support=5,
    ).summary


def with_bounds(summary: AuditSummary, low: float, high: float, **changes) -> AuditSummary:
    """The same with other bounds of all groups, and changes of its metric."""
    result = summary.metrics["m0"]
    unknown = tuple(one.model_copy(update={"bounds": (low, high)}) for one in result.unknown)
    result = result.model_copy(update={"unknown": unknown, **changes})
    return summary.model_copy(update={"metrics": {"m0": result}})


def test_where_all_is_known_nothing_is_said():
    summary = with_unknown(0)
    assert unknown_lines(summary) == ()
    assert describe_unknown(summary.metrics["m0"].findings[0], summary.metrics["m0"], summary) == ""


SUMMARY = with_unknown(40)


@pytest.mark.parametrize(
    ("bounds", "changes", "says"),
    [
        ((-0.09, -0.01), {}, "gender=F is worse than all others by 0.0100 to 0.0900"),
        ((0.01, 0.09), {}, "gender=F is better than all others by 0.0100 to 0.0900"),
        (
            (0.01, 0.09),
            {"higher_is_better": False},
            "gender=F is worse than all others by 0.0100 to 0.0900",
        ),
        (
            (-0.09, 0.02),
            {},
            "gender=F may be worse than all others by up to 0.0900 or better by up to 0.0200, so "
            "the direction cannot be determined",
        ),
        (
            (-0.09, 0.02),
            {"higher_is_better": None},
            "gender=F differs from all others by −0.0900 to +0.0200",
        ),
    ],
)
def test_the_range_of_a_finding(bounds, changes, says):
    summary = with_bounds(SUMMARY, *bounds, **changes)
    (line,) = unknown_lines(summary)
    assert line == f"gender is unknown for 40 users (10%). Whatever it is: in m0, {says}."
    result = summary.metrics["m0"]
    finding = next(one for one in result.findings if one.group == {"gender": "F"})
    about = says.removeprefix("gender=F ")
    assert describe_unknown(finding, result, SUMMARY) == (
        f"Unknown attributes: 40 more users may belong to it. Whichever of them do, it {about}."
    )


def test_users_of_unknown_attributes_are_counted_among_those_with_a_value():
    # half of the users have no value, among them 60 of the 80 whose gender is not known
    is_known = np.arange(N_UNKNOWN_USERS) % 4 == 0
    is_known[80:] = np.arange(80, N_UNKNOWN_USERS) % 16 < 9
    values = pl.Series(np.where(is_known, 0.5 - 0.2 * (GENDER == "F"), np.nan)).fill_nan(None)
    genders = [None] * 80 + GENDER[80:].tolist()
    summary = fairrec.audit(
        values=pl.DataFrame({"user_id": range(N_UNKNOWN_USERS), "m0": values}),
        users=UNKNOWN_USERS.with_columns(gender=pl.Series(genders, dtype=pl.String)),
        by="gender,age",
        tables=fairrec.Tables(better="m0=higher"),
        statistics=fairrec.Statistics(permutations=99),
        min_support=5,
    ).summary
    assert is_known.sum() == summary.metrics["m0"].n_defined == 200
    (line,) = unknown_lines(summary)
    assert line.startswith("gender is unknown for 20 of 200 users with a value (10%). ")


def test_a_range_that_leaves_the_sign_open_is_spelt_out_for_findings_only():
    summary = with_bounds(SUMMARY, -0.09, 0.02, findings=())
    (line,) = unknown_lines(summary)
    assert line.endswith("Whatever it is: in m0 even the sign of a difference is open.")
