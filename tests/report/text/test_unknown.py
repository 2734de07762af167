"""What unknown attributes leave open, in words."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.report.text.missing import unknown_lines, unknown_of
from fairrec.result.metric_schema import Unknown
from fairrec.result.schema import AuditSummary

N_USERS = 400
RNG = np.random.default_rng(0)
GENDER = np.where(np.arange(N_USERS) % 2 == 0, "F", "M")
USERS = pl.DataFrame({"user_id": range(N_USERS), "gender": GENDER, "age": ["old"] * N_USERS})


def summary_of(n_unknown: int) -> AuditSummary:
    """Women have lower values; the gender of the first users is not known."""
    genders = [None] * n_unknown + GENDER[n_unknown:].tolist()
    values = 0.5 - 0.2 * (GENDER == "F") + 0.05 * RNG.random(N_USERS)
    return fairrec.audit(
        values=pl.DataFrame({"user_id": range(N_USERS), "m0": values}),
        users=USERS.with_columns(gender=pl.Series(genders, dtype=pl.String)),
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
    summary = summary_of(0)
    assert unknown_lines(summary) == ()
    assert unknown_of(summary.metrics["m0"].findings[0], summary.metrics["m0"], summary) == ""


SUMMARY = summary_of(40)


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
            "which end is worse is not known",
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
    assert unknown_of(finding, result, SUMMARY) == (
        f"Unknown attributes: 40 more users may belong to it. Whoever does, it {about}."
    )


def test_users_of_unknown_attributes_are_counted_among_those_with_a_value():
    # half of the users have no value, among them 60 of the 80 whose gender is not known
    is_known = np.arange(N_USERS) % 4 == 0
    is_known[80:] = np.arange(80, N_USERS) % 16 < 9
    values = pl.Series(np.where(is_known, 0.5 - 0.2 * (GENDER == "F"), np.nan)).fill_nan(None)
    genders = [None] * 80 + GENDER[80:].tolist()
    summary = fairrec.audit(
        values=pl.DataFrame({"user_id": range(N_USERS), "m0": values}),
        users=USERS.with_columns(gender=pl.Series(genders, dtype=pl.String)),
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


def test_a_group_that_is_no_finding_is_worse_as_measured():
    summary = with_bounds(SUMMARY, -0.09, -0.01, findings=())
    (line,) = unknown_lines(summary)
    assert line.endswith("gender=F is worse than all others by 0.0100 to 0.0900 as measured.")


def test_of_many_metrics_the_first_are_told():
    told = with_bounds(SUMMARY, -0.09, -0.01).metrics["m0"]
    is_open = with_bounds(SUMMARY, -0.09, 0.02, findings=()).metrics["m0"]
    metrics = {f"m{at}": told if at < 5 else is_open for at in range(9)}
    (line,) = unknown_lines(SUMMARY.model_copy(update={"metrics": metrics}))
    assert line.count("gender=F is worse than all others by 0.0100 to 0.0900; ") == 3
    assert "; 2 more metrics in result.json; " in line
    assert line.endswith("in m5, m6, m7 and 1 more metric even the sign of a difference is open.")


def test_groups_of_several_attributes_have_no_line():
    both = Unknown(
        group={"gender": "F", "age": "old"},
        n_known=9,
        n_unknown=4,
        difference=0.0,
        bounds=(-1.0, 1.0),
    )
    result = SUMMARY.metrics["m0"].model_copy(update={"unknown": (both,)})
    assert unknown_lines(SUMMARY.model_copy(update={"metrics": {"m0": result}})) == ()


def test_of_what_is_the_same_for_everyone_nothing_is_open():
    assert unknown_lines(with_bounds(SUMMARY, 0.0, 0.0, is_constant=True)) == ()
