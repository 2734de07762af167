"""What is ruled out, drawn and in words."""

from __future__ import annotations

from typing import Any

from fairrec.report.page.build import build_page_view
from fairrec.report.page.html import page_html
from fairrec.report.words import number
from fairrec.result.audit_result import AuditResult
from fairrec.result.schema import AuditSummary
from tests.report.page.planted_page import planted, planted_result, view_of


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
        assert [(step.size, step.n_groups) for step in part.steps] == [
            (step.support, step.n_groups) for step in steps
        ]
        assert [row[1] for row in part.rows] == [number(step.harm) for step in steps]
        assert part.largest == planted().group_table["support"].max()
        assert f"none is worse by more than {number(steps[0].harm)}" in part.alternative
        assert f"of those of {steps[-1].support:,} or more none" in part.alternative


def test_what_matters_is_beside_it():
    assert all(part.tolerance is None for part in view_of(planted()).certificates)
    result = planted_result(tolerance=0.2)
    for part in view_of(result).certificates:
        assert part.tolerance == 0.2
        below = next(step for step in part.steps if step.harm < 0.2)
        said = f"More than 0.200, which matters, is ruled out from {below.size:,} users on."
        assert said in part.alternative
    first = result.metrics["auc"].verdict.certificate[:1]
    alone = with_verdict(result, certificate=first, tolerance=0.0001)
    said = build_page_view(alone, result.group_table).certificates[0].alternative
    assert "More than 0.000100, which matters, is ruled out for no size." in said


def test_its_section_is_after_the_verdicts_and_not_there_without_a_test():
    page = page_html(planted().summary, planted().group_table)
    places = [page.index(f'<section id="{name}"') for name in ("verdicts", "ruled-out", "groups")]
    assert places == sorted(places)
    assert '<a href="#ruled-out">' in page
    untested = planted_result(permutations=0)
    assert 'id="ruled-out"' not in page_html(untested.summary, untested.group_table)


def test_where_nothing_is_ruled_out_that_is_said_and_nothing_drawn():
    page = page_html(with_verdict(planted(), certificate=()), planted().group_table)
    assert "Nothing is ruled out: any group may be worse by any amount." in page
    assert 'data-chart="ruled-out-0"' not in page
    assert 'data-chart="ruled-out-1"' in page
