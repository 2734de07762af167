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
from fairrec.report.view import build_view
from fairrec.report.words import percent, signed
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
            {"predictions": labelled(SPREAD), "metrics": "mrr,auc"},
            "have no relevant item and are left out of mrr@5, auc",
        ),
        (
            {"predictions": labelled(SPREAD).filter(pl.col("user_id") >= 6), "metrics": "mrr"},
            "got no list and are left out of mrr@5",
        ),
        (served(SPREAD), "got no list and count as 0 in "),
        ({**served(SPREAD), "missing_lists": "drop"}, "got no list and are left out of "),
        (
            {"values": USERS.with_columns(x=pl.col("user_id"))[6:], "metrics": "x"},
            "have no value and are left out of x",
        ),
    ],
    ids=["labels", "predictions", "zero", "drop", "values"],
)
def test_missing_users_are_counted_and_groups_that_do_not_differ_are_mentioned(options, says):
    (line,) = missing_lines(summary_of(**options))
    assert line.startswith(f"6 of 60 users (10%) {says}")
    assert line.endswith(". The share does not differ significantly between groups.")


def test_a_group_that_is_missing_is_contrasted_with_all_others():
    summary = summary_of(predictions=labelled(IS_G0), metrics="mrr")
    why = why_inconclusive("mrr@5", summary.metrics["mrr@5"], summary)
    assert why == (
        "Too many users are missing: 33% of users have no value (limit 5%); have no relevant item: "
        "100% of group=g0, 0% of all others."
    )
    assert "give the held-out interactions (test=...)" in remedy(summary)


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


def with_bounds(summary: AuditSummary, low: float, high: float) -> AuditSummary:
    """The same with other bounds of all groups."""
    result = summary.metrics["m0"]
    unknown = tuple(one.model_copy(update={"bounds": (low, high)}) for one in result.unknown)
    result = result.model_copy(update={"unknown": unknown})
    return summary.model_copy(update={"metrics": {"m0": result}})


def test_where_all_is_known_nothing_is_said():
    summary = with_unknown(0)
    assert unknown_lines(summary) == ()
    assert describe_unknown(summary.metrics["m0"].findings[0], summary.metrics["m0"], summary) == ""


SUMMARY = with_unknown(40)


def test_the_bounds_of_a_group_hold_whatever_is_unknown():
    summary = with_bounds(SUMMARY, -0.09, 0.02)
    (line,) = unknown_lines(summary)
    assert line == (
        "gender is unknown for 40 of 400 users with a value (10%). Whatever it is, unadjusted "
        "differences from all others lie within −0.0900 to +0.0200 in m0 for gender=F."
    )
    result = summary.metrics["m0"]
    finding = next(one for one in result.findings if one.group == {"gender": "F"})
    assert describe_unknown(finding, result, SUMMARY) == (
        "Unknown attributes: 40 users may belong to it too; its unadjusted difference lies within "
        "−0.0900 to +0.0200."
    )


def test_what_is_within_tolerance_names_the_worst_case_of_unknown_attributes():
    rng = np.random.default_rng(7)
    gender = rng.choice(np.array(["F", "M", None], dtype=object), 4000, p=[0.05, 0.85, 0.1])
    values = 0.5 + 0.1 * rng.normal(size=4000)
    table = pl.DataFrame({"user_id": range(4000), "gender": pl.Series(gender, dtype=pl.String)})
    result = fairrec.audit(
        values=table.with_columns(hits=values),
        by="gender",
        tables=fairrec.Tables(better="hits=higher"),
        tolerance="hits=0.035",
        statistics=fairrec.Statistics(permutations=199),
    )
    worst = result.metrics["hits"].verdict.at_worst
    assert worst.group == {"gender": "F"} and worst.at_worst < -0.035
    condition = (
        f"if the {percent(worst.n_unknown / 4000)} of users of unknown attributes are like the "
        f"others (at worst gender=F {signed(worst.at_worst)})"
    )
    view = build_view(result.summary)
    assert view.verdicts[0].qualified_status == f"within tolerance, {condition}"
    assert f"within it {condition}, " in view.verdicts[0].ruled_out
    assert f"is within tolerance, {condition}; " in view.answer.headline
