"""What covariates make of a difference, in words."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.report.covariates import (
    covariate_lines,
    explained,
    explained_lines,
    no_longer_lines,
)
from fairrec.report.page.html import page_html
from fairrec.report.text import to_markdown
from fairrec.report.view import build_view
from fairrec.result.schema import AdjustedCovariate, Adjustment
from fairrec.statistics.confounders import Confounder, NoLongerFound
from tests.report.small_view import answer_text

N_USERS = 400
RNG = np.random.default_rng(0)
GENDER = np.where(np.arange(N_USERS) % 2 == 0, "F", "M")
RESULT = fairrec.audit(
    values=pl.DataFrame(
        {"user_id": range(N_USERS), "m0": 0.5 - 0.2 * (GENDER == "F") + RNG.random(N_USERS) / 20}
    ),
    users=pl.DataFrame({"user_id": range(N_USERS), "gender": GENDER}),
    by="gender",
    tables=fairrec.Tables(better="m0=higher"),
    statistics=fairrec.Statistics(permutations=99),
)
WOMEN = RESULT.metric("m0").findings[0]
DIFFERS = Confounder(
    metric="m0",
    group={"gender": "F"},
    covariate="list_length",
    mean=50.0,
    mean_of_others=10.0,
    difference=-0.2,
    explains=-0.15,
)
GONE = NoLongerFound(
    metric="m0",
    group={"gender": "F"},
    n_users=200,
    raw_difference=-0.2,
    difference=-0.02,
    kept_share=1.0,
)
GIVEN = Adjustment(
    named=("history_length:q5", "list_length"),
    covariates={
        "history_length": AdjustedCovariate(n_values=5, n_missing=0, binning="5 quantiles"),
        "list_length": AdjustedCovariate(n_values=2, n_missing=3, binning=None),
    },
    n_strata=9,
    n_users_alone=1,
    n_not_comparable={"m0": 2},
    no_longer=(),
)


def summary_of(given=None, covariates=(), **finding):
    """A result with other covariates, and changes of its finding."""
    metric = RESULT.summary.metrics["m0"]
    changed = metric.model_copy(update={"findings": (WOMEN.model_copy(update=finding),)})
    return RESULT.summary.model_copy(
        update={"adjustment": given, "confounders": covariates, "metrics": {"m0": changed}}
    )


def changed(part, **changes):
    return part.model_copy(update=changes)


def test_a_covariate_that_makes_a_part_is_told_with_what_to_do():
    other = changed(DIFFERS, metric="m1", explains=-0.1, difference=-0.4)
    (line,) = covariate_lines(summary_of(covariates=(DIFFERS, other)))
    assert line == (
        "Users of gender=F have 50 rows in their lists on average, all others 10, and m0, m1 "
        "depend on it. Judged by all others, this accounts for about −0.150 of −0.200 in m0, "
        "−0.100 of −0.400 in m1. adjust_for=['list_length'] compares users who are alike in it."
    )


def test_where_no_others_share_its_covariates_that_is_said():
    (line,) = covariate_lines(summary_of(covariates=(changed(DIFFERS, explains=None),)))
    assert "m0 may differ for that reason alone." in line
    assert "these data cannot separate the two" in line


@pytest.mark.parametrize(
    ("raw", "adjusted", "says"),
    [
        (-0.08, -0.02, "the covariates explain 75% of it."),
        (-0.08, -0.08, "the covariates explain none of it."),
        (-0.08, -0.1, "the covariates hide a part of it."),
        (-0.08, 0.02, "it has the other sign there."),
    ],
)
def test_both_differences_stand_side_by_side(raw, adjusted, says):
    summary = summary_of(GIVEN, raw_difference=raw, difference=adjusted, kept_share=1.0)
    (line,) = explained_lines(summary)
    assert line.startswith("m0, gender=F: −0.080")
    assert "among users with the same history_length and list_length" in line
    assert line.endswith(says)
    assert explained(summary.metrics["m0"].findings[0], summary) in line


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({}, "not significant after adjustment: −0.200 unadjusted, −0.020"),
        ({}, "the covariates explain 90% of it. Strata leave fewer users"),
        ({"difference": -0.19}, "the covariates explain 5% of it"),
        ({"difference": None, "kept_share": 0.0}, "only 0% of them share a stratum with others"),
        ({"kept_share": 0.4}, "cannot be separated from the covariates"),
    ],
)
def test_what_is_no_longer_found_says_why(changes, says):
    given = changed(GIVEN, no_longer=(changed(GONE, **changes),))
    (line,) = no_longer_lines(summary_of(given))
    assert line.startswith("m0, gender=F (200 users): ")
    assert says in line
    assert line in explained_lines(summary_of(given))


def test_every_layout_tells_covariates_before_the_findings():
    given = changed(GIVEN, no_longer=(GONE,))
    summary = summary_of(given, (DIFFERS,), raw_difference=-0.3, kept_share=1.0)
    view = build_view(summary)
    page = page_html(summary, RESULT.group_table)
    for text in (answer_text(view.answer), to_markdown(view).replace("\\", ""), page):
        for said in (
            "rows in their lists on average",
            "not significant after adjustment",
            "−0.300 unadjusted",
        ):
            assert said in text
        adjusted = text.index("Adjusted for history_length")
        assert adjusted < text.index("Groups of which less than half share a stratum")
