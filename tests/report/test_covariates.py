"""What covariates make of a difference, in words."""

from __future__ import annotations

from fairrec.report.covariates import (
    covariate_lines,
    explained,
    no_longer_lines,
)
from fairrec.report.page.audit import page_html
from fairrec.report.text import to_markdown
from fairrec.report.view import build_view
from fairrec.result.schema import AdjustedCovariate, Adjustment
from fairrec.statistics.confounders import Confounder, NoLongerFound
from tests.report.planted import resolve_audit
from tests.report.small_view import answer_text

RESULT = resolve_audit({"m0": 0.2})
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
    metric = changed(metric, findings=(changed(metric.findings[0], **finding),))
    return changed(RESULT.summary, adjustment=given, confounders=covariates, metrics={"m0": metric})


def changed(part, **changes):
    return part.model_copy(update=changes)


def test_a_covariate_that_explains_a_part_comes_with_what_to_do():
    other = changed(DIFFERS, metric="m1", explains=-0.1, difference=-0.4)
    (line,) = covariate_lines(summary_of(covariates=(DIFFERS, other)))
    assert line == (
        "gender=F: 50.0 rows in their lists on average, all others 10.0. This accounts for about "
        "−0.150 of −0.200 in m0, −0.100 of −0.400 in m1. Adjust for it: "
        "adjust_for=['list_length']."
    )
    (line,) = covariate_lines(summary_of(covariates=(changed(DIFFERS, explains=None),)))
    assert "these data cannot separate the two" in line


def test_both_differences_stand_side_by_side():
    finding = {"raw_difference": -0.08, "difference": -0.02}
    for kept, rest in ((1.0, ""), (0.4, " (40% of the group share covariates with others)")):
        summary = summary_of(GIVEN, **finding, kept_share=kept)
        text = explained(summary.metrics["m0"].findings[0], summary)
        assert text == f"−0.0800 unadjusted, −0.0200 adjusted{rest}."


def test_what_is_not_significant_after_adjustment_has_both_differences():
    gone = changed(GONE, difference=None, kept_share=0.0)
    given = changed(GIVEN, no_longer=(GONE, gone))
    first, second = no_longer_lines(summary_of(given))
    said = "m0, gender=F (200 users): "
    assert first == f"{said}not significant after adjustment: −0.200 unadjusted, −0.020 adjusted."
    assert second == (
        f"{said}differs by −0.200 and cannot be separated from the covariates (0% of the group "
        "share them with others)."
    )


def test_every_layout_has_the_covariates():
    given = changed(GIVEN, no_longer=(GONE,))
    summary = summary_of(given, (DIFFERS,), raw_difference=-0.3, kept_share=1.0)
    view = build_view(summary)
    page = page_html(summary, RESULT.group_table)
    for text in (answer_text(view.answer), to_markdown(view).replace("\\", ""), page):
        for part in (
            "Adjusted for history_length (5 quantiles), list_length, in 9 combinations",
            "rows in their lists on average",
            "not significant after adjustment",
        ):
            assert part in text
