"""Audits in which some metric has no group, no test, or no page."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import fairrec
from fairrec.core.errors import OutputError
from fairrec.metrics import METRICS
from fairrec.report.page.build import build_page_view
from fairrec.report.page.html import page_html
from tests.worlds import random_world


@pytest.fixture
def rare_metric():
    @fairrec.metric("rare", bounds=(0, 1))
    def rare(lists):
        """Defined for two users."""
        return np.where(np.arange(lists.n_users) < 2, 0.5, np.nan)

    yield "rare"
    METRICS.remove("rare")


def audit(**options):
    users, predictions = random_world(300)
    return fairrec.audit(predictions, users=users, by=["gender", "age"], **options)


def test_metric_without_a_group_has_a_place_without_a_chart(rare_metric):
    result = audit(metrics=["auc", rare_metric], min_support=5, permutations=99)
    view = build_page_view(result.summary, result.group_table)
    assert "not tested: rare" in view.summary
    page = page_html(result.summary, result.group_table)
    assert page.count('data-chart="chart-') == 1


def test_page_without_tests_speaks_of_none():
    result = audit(metrics=["auc"], permutations=0)
    view = build_page_view(result.summary, result.group_table)
    assert view.summary == "Nothing was tested against chance."
    page = page_html(result.summary, result.group_table)
    assert "Nothing was tested against chance, so nothing could be found." in page
    assert "what chance alone shows" not in page


def test_result_is_kept_when_its_page_fails(tmp_path):
    def fail(*_, **options):
        raise ValueError("no page today")

    result = replace(audit(metrics=["auc"], permutations=0), page=fail)
    with pytest.raises(OutputError, match=r"the result is written.*no page today.*--no-report"):
        result.save(tmp_path / "out")
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == [
        "groups.parquet",
        "per_user.parquet",
        "result.json",
    ]


def test_page_of_an_earlier_audit_does_not_stay(tmp_path):
    result = audit(metrics=["auc"], permutations=0)
    result.save(tmp_path)
    assert (tmp_path / "report.html").exists()
    result.save(tmp_path, report=False)
    assert not (tmp_path / "report.html").exists()
