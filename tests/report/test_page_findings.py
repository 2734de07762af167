"""Findings, the table of groups, verdicts and certificates on the page."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any, get_args

import polars as pl
import pytest

import fairrec
from fairrec.core.audited_entity import USERS
from fairrec.report.audit_result import AuditResult
from fairrec.report.page.build import answer, verdict_card
from fairrec.report.page.findings import number_columns, side_by_side, table_rows
from fairrec.report.page.groups import PageGroups
from fairrec.report.page.html import page_html
from fairrec.report.page.view import PageLimits
from fairrec.report.verdict import Status, Verdict
from fairrec.report.words import number, rounded_up, signed
from fairrec.result.metric_schema import Chance
from fairrec.result.schema import AuditSummary
from tests.builders import two_groups
from tests.report.planted import planted, view_of
from tests.worlds import random_world


def test_a_finding_says_how_much_worse_in_words():
    group = view_of(planted()).findings[0]
    finding = planted().metrics["auc"].findings[0]
    others = finding.value - finding.difference
    assert group.served == "worse"
    assert group.users.startswith("61 users (")
    assert {one.metric for one in group.findings} == {"auc", "mrr@5"}
    card = group.findings[0]
    assert card.metric == "auc" and card.verdict == "worse"
    assert (card.value, card.others) == (number(finding.value), number(others))
    assert card.shrunken == signed(finding.shrunken_difference)
    # a random order has an AUC of 0.5, so that percent of it mean nothing
    assert card.sentence.endswith(f"{number(-finding.difference)} lower.")
    assert card.p_adjusted == "≤0.005"
    assert card.unknown == ""


def test_a_finding_says_what_unknown_attributes_leave_open():
    users, predictions = random_world(2000, {"gender": "F", "age": "65+"}, effect=2.5, seed=1)
    hidden = pl.when(pl.col("user_id") % 20 == 0).then(None).otherwise(pl.col("gender"))
    result = fairrec.audit(
        predictions,
        users=users.with_columns(gender=hidden),
        by=["gender", "age"],
        metrics="auc",
        statistics=fairrec.Statistics(permutations=99),
    )
    (group,) = view_of(result).findings
    assert group.label == "gender=F, age=65+"
    (card,) = group.findings
    n_hidden = users.filter(pl.col("user_id") % 20 == 0, pl.col("age") == "65+").height
    assert card.unknown.startswith(f"Unknown attributes: {n_hidden} users may belong to it too; ")


def groups_of(result: AuditResult) -> PageGroups:
    return PageGroups(result.group_table, result.summary)


def small(permutations: int) -> AuditResult:
    predictions, users = two_groups(200)
    return fairrec.audit(
        predictions,
        users=users,
        by="group",
        metrics="mrr",
        statistics=fairrec.Statistics(permutations=permutations),
    )


def test_a_row_has_the_numbers_of_its_group():
    rows, note = table_rows(groups_of(small(99)), PageLimits())
    assert note == ""
    by_label = {row.label: row for row in rows}
    even, odd = by_label["group=even"], by_label["group=odd"]
    # served at place 1 and at place 2
    assert (even.users, even.value, even.difference) == ("100", "1.000", "+0.500")
    assert (odd.users, odd.value, odd.difference) == ("100", "0.500", "−0.500")
    low, high = odd.difference_interval.split(" to ")
    assert float(low.replace("−", "-")) <= -0.5 <= float(high.replace("−", "-"))
    assert (odd.metric, odd.attributes, odd.p_adjusted) == ("mrr@5", (0,), "≤0.010")


def test_a_row_has_its_numbers_with_all_their_digits():
    groups = groups_of(planted())
    rows, _ = table_rows(groups, PageLimits())
    names = number_columns(USERS, "95%", "difference")
    row = next(row for row in rows if (row.metric, row.label) == ("auc", "gender=F, age=65+"))
    own = groups.of_metric["auc"].filter(
        pl.col("depth") == 2, pl.col("a0") == "F", pl.col("a1") == "65+"
    )
    kept = dict(zip(names, row.numbers, strict=True))
    for name, column in (
        ("users", "support"),
        ("value", "value"),
        ("its 95% interval, one at a time, high", "difference_high"),
        ("shrunken difference", "shrunken_difference"),
        ("its 95% interval, all at once, low", "simultaneous_low"),
        ("p adjusted", "p_adjusted"),
    ):
        assert kept[name] == pytest.approx(own[column].item(), rel=1e-8), name


def test_rows_are_sorted_by_p_and_those_left_out_are_counted():
    groups = groups_of(planted())
    rows, note = table_rows(groups, PageLimits())
    shown = [float(row.p_adjusted.strip("<≤")) for row in rows]
    assert shown == sorted(shown)
    assert len(rows) == planted().group_table.height and note == ""
    few, note = table_rows(groups, PageLimits(rows=20))
    # at most ten for each of two metrics
    assert {*few} < {*rows} and len(few) <= 20
    assert {row.role for row in few} == {row.role for row in rows}
    assert note.startswith(f"{len(few)} of {len(rows)} rows")
    pair = next(row for row in rows if row.label == "gender=F, age=65+")
    assert pair.attributes == (0, 1)


def test_a_finding_in_one_metric_has_its_difference_in_all():
    result = planted()
    silent = result.metrics["mrr@5"].model_copy(update={"findings": ()})
    metrics = {**result.metrics, "mrr@5": silent}
    summary = result.summary.model_copy(update={"metrics": metrics})
    rows = side_by_side(PageGroups(result.group_table, summary))
    assert len(rows) == len(result.metrics["auc"].findings)
    assert {row.is_finding for row in rows} == {(True, False)}
    assert rows[0].label == "gender=F, age=65+"
    own = result.group_table.filter(pl.col("depth") == 2, gender="F", age="65+")
    differences = dict(own.select("metric", "difference").iter_rows())
    assert rows[0].differences == tuple(signed(differences[name]) for name in metrics)


def said(**metrics: str) -> str:
    """The answer where these metrics have these verdicts."""
    return answer(tuple(Verdict(name, status, "", "", "", "") for name, status in metrics.items()))


def test_what_matters_most_comes_first_and_the_untested_last():
    text = said(m1="not tested", m2="worse", m3="inconclusive", m4="worse", m5="worse")
    assert text == "Groups worse off in m2, m4 and m5; inconclusive in m3; not tested: m1."
    assert said(m1="worse").count(" and ") == 0
    text = said(m1="within tolerance", m2="worse beyond tolerance", m3="differs")
    assert re.findall(r"m\d", text) == ["m2", "m3", "m1"]


@pytest.mark.parametrize("status", get_args(Status)[:-1])
def test_every_verdict_has_its_words(status):
    text = said(m1=status)
    assert text.endswith("m1.") and text[0].isupper()


def verdict_card_of(
    gap: float | None,
    mean: float = 0.1,
    q95: float = 0.2,
    p: float = 0.02,
    tested: bool = True,
    is_adjusted: bool = False,
    scored: int = 100,
    **changes: object,
):
    chance = Chance(mean=mean, q95=q95, p_value=p, permutations=99) if tested else None
    parts = {"mean": 0.75, "n_undefined": 0, "is_constant": False, **changes}
    result = SimpleNamespace(gap=gap, chance=chance, **parts)
    summary = SimpleNamespace(
        unit=USERS,
        adjustment=object() if is_adjusted else None,
        search=SimpleNamespace(users_scored=scored, users_total=100),
    )
    return verdict_card(2, Verdict("auc", "worse", "", "", "", ""), result, summary)


def test_the_largest_of_gap_and_chance_nearly_fills_the_scale():
    card = verdict_card_of(0.4)
    assert (card.anchor, card.mean) == ("chart-2", "0.750")
    scale = card.scale
    assert (scale.gap, scale.chance, scale.q95) == ("0.400", "0.100", "0.200")
    # the end of the scale is 1.08 times the largest
    assert scale.gap_at == round(100 / 1.08, 1)
    assert scale.chance_at == round(25 / 1.08, 1)
    assert scale.q95_at == round(50 / 1.08, 1)
    assert "p = 0.020" in scale.alternative
    assert verdict_card_of(0.1, q95=0.5).scale.q95_at == round(100 / 1.08, 1)


@pytest.mark.parametrize(
    ("gap", "p", "is_beyond"),
    [(0.21, 0.02, True), (0.2, 0.02, False), (0.0, 0.9, False), (0.21, 0.2, False)],
)
def test_a_gap_is_beyond_chance_above_its_upper_end_and_in_standard_errors(gap, p, is_beyond):
    assert verdict_card_of(gap, p=p).scale.is_beyond == is_beyond


def test_a_scale_of_nothing_starts_at_nothing_and_without_a_test_there_is_none():
    scale = verdict_card_of(0.0, 0.0, 0.0).scale
    assert (scale.gap_at, scale.chance_at, scale.q95_at) == (0, 0, 0)
    assert verdict_card_of(None).scale is None
    assert verdict_card_of(0.4, tested=False).scale is None
    assert verdict_card_of(0.0, is_constant=True).scale is None


def test_a_gap_as_it_is_does_not_stand_beside_what_chance_shows_within_covariates():
    assert verdict_card_of(0.3, is_adjusted=True).scale is None


def with_verdict(result: AuditResult, **changes: Any) -> AuditSummary:
    """The result with another verdict about auc."""
    metric = result.metrics["auc"]
    changed = metric.model_copy(update={"verdict": metric.verdict.model_copy(update=changes)})
    return result.summary.model_copy(update={"metrics": {**result.metrics, "auc": changed}})


def test_the_curve_is_the_certificate_of_the_result():
    parts = view_of(planted()).certificates
    assert [part.metric for part in parts] == ["auc", "mrr@5"]
    for part, result in zip(parts, planted().metrics.values(), strict=True):
        steps = result.verdict.certificate
        assert len(steps) > 5
        assert [(step.support, step.n_groups) for step in part.steps] == [
            (step.support, step.n_groups) for step in steps
        ]
        assert [row[1] for row in part.rows] == [rounded_up(step.harm) for step in steps]
        assert part.largest == planted().group_table["support"].max()
        assert f": {rounded_up(steps[0].harm)} from {steps[0].support} users" in part.alternative


def test_where_nothing_is_ruled_out_that_is_said_and_nothing_drawn():
    page = page_html(with_verdict(planted(), certificate=()), planted().group_table)
    assert "Nothing is ruled out." in page
    assert 'data-chart="ruled-out-0"' not in page
    assert 'data-chart="ruled-out-1"' in page
