"""The groups that differ, in the order in which they are told."""

from __future__ import annotations

import pytest

from fairrec.report.findings import effect_in_sd, found_groups, marks_of, served_in
from tests.report.text.planted_report import audit_of, planted_result


def test_worse_groups_come_before_better_ones():
    result = audit_of({"a": 0.05, "b": -0.3})
    groups = found_groups(result.summary)
    assert [group.served for group in groups] == sorted(
        (group.served for group in groups), key=["worse", "differs", "better"].index
    )
    assert groups[0].served == "worse"


def test_a_group_has_one_finding_a_metric_the_largest_effect_first():
    summary = audit_of({"a": 0.1, "b": 0.2, "c": 0.1}).summary
    (group,) = found_groups(summary)
    assert group.group == {"gender": "F", "age": "old"}
    assert [name for name, _ in group.findings] == ["b", "a", "c"]
    assert group.first == group.findings[0]
    # of c no end is better
    assert [f"{mark.metric}{mark.sign}" for mark in marks_of(group, summary)] == ["b▼", "a▼", "c◆"]


def test_an_effect_is_the_shrunken_difference_in_standard_deviations():
    auc = planted_result().metrics["auc"]
    finding = auc.findings[0]
    assert effect_in_sd(finding, auc) == pytest.approx(finding.shrunken_difference / auc.sd)
    assert effect_in_sd(finding, auc.model_copy(update={"sd": None})) is None


@pytest.mark.parametrize(
    ("higher_is_better", "served"), [(True, "worse"), (False, "better"), (None, "differs")]
)
def test_how_a_group_is_served_follows_the_direction(higher_is_better, served):
    auc = planted_result().metrics["auc"]
    turned = auc.model_copy(update={"higher_is_better": higher_is_better})
    assert served_in(auc.findings[0], turned) == served
