"""The view of the page as a whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta, timezone
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fairrec
from fairrec.core.units import USERS
from fairrec.report.page.build import build_page_view
from fairrec.report.page.html import lay_out
from fairrec.result.schema import AuditedModel
from tests.builders import audit, two_groups
from tests.report.page.planted_page import planted, planted_result, view_of
from tests.report.text.planted_report import given_result

GOLDEN = Path(__file__).parent / "golden_page.txt"
FIRST = 6


def as_text(name: str, part: Any, indent: str = "") -> Iterator[str]:
    """A view as lines; of long sequences the first parts and the number of all."""
    if part == USERS:
        # it is in the words
        return
    if is_dataclass(part):
        yield f"{indent}{name}:"
        for one in fields(part):
            yield from as_text(one.name, getattr(part, one.name), indent + "  ")
    elif isinstance(part, tuple) and any(map(is_dataclass, part)):
        yield f"{indent}{name}: {len(part)}"
        for one in part[:FIRST]:
            yield from as_text("-", one, indent + "  ")
    elif name == "rows" and len(part) > 2 * FIRST:
        yield f"{indent}{name}: {len(part)}, first {part[:FIRST]}"
    elif isinstance(part, float):
        yield f"{indent}{name}: {part:.4g}"
    elif name == "numbers":
        yield f"{indent}{name}: {', '.join('-' if one is None else f'{one:.4g}' for one in part)}"
    else:
        yield f"{indent}{name}: {part}"


def test_the_view_of_a_fixed_world_reads_as_agreed():
    # after a change, read the new text and put it into golden_page.txt
    fixed = planted().summary.model_copy(update={"versions": {"python": "3"}})
    view = build_page_view(fixed, planted().group_table)
    assert "\n".join(as_text("page", view)) + "\n" == GOLDEN.read_text("utf-8")


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (None, ""),
        (AuditedModel(name="ranker", version=""), "ranker"),
        (AuditedModel(name="", version="2"), "2"),
        (AuditedModel(name="<i>\n", version="2.1"), r"<i>\n@2.1"),
    ],
)
def test_the_head_names_audit_model_and_date(model, says):
    summary = planted().summary.model_copy(
        update={"title": "Spring\n", "model": model, "author": "A<b>nn"}
    )
    made = datetime(2026, 11, 15, 23, 2, tzinfo=timezone(timedelta(hours=9)))
    run = planted().run.model_copy(update={"made_at": made})
    view = build_page_view(summary, planted().group_table, run=run)
    assert (view.heading, view.about_model) == (r"Spring\n", says)
    assert view.made_at == "2026-11-15 14:02 UTC"
    assert "<title>FairRec audit: Spring\\n</title>" in lay_out(view)
    brand = lay_out(view).partition('class="brand"')[2].partition("</p>")[0]
    called = [r"Spring\n", escape(says)] if says else [r"Spring\n"]
    shown = [*called, escape("A<b>nn"), view.made_at]
    assert re.findall("<bdi>(.*?)</bdi>", brand) == shown


@pytest.mark.parametrize(
    ("min_support", "says"),
    [
        (None, "10 users (0.1% of users, at least 10)"),
        (0.02, "10 users (2% of users)"),
        (10, "10 users"),
    ],
)
def test_the_smallest_group_is_told_with_its_rule(min_support, says):
    predictions, users = two_groups(500)
    result = audit(predictions, users, "group", min_support=min_support)
    assert dict(view_of(result).reproduce.settings)["smallest group"] == says


def test_a_search_shows_how_the_gap_grew():
    result = planted_result(search=fairrec.Search("adaptive", budget_users="30%"))
    view = view_of(result)
    history = view.histories[0]
    assert [step.users for step in history.steps] == sorted(step.users for step in history.steps)
    assert history.steps[-1].gap == pytest.approx(result.metrics["auc"].gap)
    chart = view.charts[0]
    assert chart.funnel_fully_scored
    assert {point.is_fully_scored for point in chart.points} == {True, False}
    # alone against a sample, a fully scored group needs a wider band than one inside it
    inside = np.interp(60, *zip(*((s.size, s.high) for s in chart.funnel), strict=True))
    whole = np.interp(60, *zip(*((s.size, s.high) for s in chart.funnel_fully_scored), strict=True))
    assert whole > inside


def test_in_given_circumstances_differences_are_called_adjusted_and_values_as_they_are():
    page = lay_out(view_of(given_result()))
    assert "Adjusted difference from <bdi>other users with the same tenure</bdi></h2>" in page
    assert "Groups that differ from other users with the same tenure beyond chance" in page
    heads = re.findall(r"<th scope=\"col\"[^>]*>([^<]+)", page)
    assert {"them, as they are", "all others, as they are", "adjusted difference"} <= {*heads}
    assert ">adjusted difference</button>" in page and '"shrunken adjusted difference"' in page
    assert "<bdi>q</bdi>, whatever the circumstances, of these users" in page
    usual = lay_out(view_of(planted()))
    assert "Difference from <bdi>all other users</bdi></h2>" in usual
    assert "adjusted difference" not in usual.lower() and ", as they are<" not in usual


def test_the_page_never_calls_a_model_fair():
    shown = "\n".join(as_text("page", view_of(planted()))).lower()
    for word in ("unbiased", "debiased", " fair ", "unfair"):
        assert word not in shown
