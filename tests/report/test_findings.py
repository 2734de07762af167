"""Findings in words, most urgent first."""

from __future__ import annotations

import pytest

from fairrec.report.findings import (
    format_difference,
    found_groups,
    service_direction,
    simultaneous_interval,
)
from tests.report.planted import planted, resolve_audit

AUC = planted().metrics["auc"]
FINDING = AUC.findings[0].model_copy(
    update={
        "difference": -0.2,
        "raw_difference": None,
        "value": 0.3,
        "shrunken_difference": -0.15,
        "interval": (-0.3, -0.1),
        "simultaneous": (-0.4, None),
    }
)


def test_a_difference_has_the_digits_of_its_interval_and_its_sign():
    assert format_difference(FINDING) == "−0.200"
    assert format_difference(FINDING, FINDING.shrunken_difference) == "−0.150"
    close = FINDING.model_copy(update={"simultaneous": (-0.20004, -0.19996)})
    assert format_difference(close) == "−0.20000"


def test_intervals_say_where_they_have_no_limit():
    assert simultaneous_interval(FINDING) == "−0.400 to no limit"


def test_a_group_has_one_finding_a_metric_the_largest_effect_first():
    summary = resolve_audit({"a": 0.1, "b": 0.2, "c": 0.1}).summary
    (group,) = found_groups(summary)
    assert group.group == {"gender": "F", "age": "old"}
    assert [name for name, _ in group.findings] == ["b", "a", "c"]
    assert group.first == group.findings[0]


@pytest.mark.parametrize(
    ("higher_is_better", "served"), [(True, "worse"), (False, "better"), (None, "differs")]
)
def test_how_a_group_is_served_follows_the_direction(higher_is_better, served):
    auc = planted().metrics["auc"]
    turned = auc.model_copy(update={"higher_is_better": higher_is_better})
    assert service_direction(auc.findings[0], turned) == served
