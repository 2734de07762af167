"""Findings in words, in the order in which they are told, and what carries them."""

from __future__ import annotations

import pytest

from fairrec.report.findings import (
    carried_by,
    finding_marks,
    format_difference,
    found_groups,
    neighbour_rows,
    one_at_a_time,
    service_direction,
    simultaneous_interval,
)
from fairrec.statistics.explanations import Interaction, Neighbour
from fairrec.statistics.findings import Finding
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
    assert one_at_a_time(FINDING) == "−0.300 to −0.100"
    assert simultaneous_interval(FINDING) == "−0.400 to no limit"


def test_a_group_has_one_finding_a_metric_the_largest_effect_first():
    summary = resolve_audit({"a": 0.1, "b": 0.2, "c": 0.1}).summary
    (group,) = found_groups(summary)
    assert group.group == {"gender": "F", "age": "old"}
    assert [name for name, _ in group.findings] == ["b", "a", "c"]
    assert group.first == group.findings[0]
    # of c no end is better
    assert [f"{mark.metric}{mark.sign}" for mark in finding_marks(group, summary)] == [
        "b▼",
        "a▼",
        "c◆",
    ]


@pytest.mark.parametrize(
    ("higher_is_better", "served"), [(True, "worse"), (False, "better"), (None, "differs")]
)
def test_how_a_group_is_served_follows_the_direction(higher_is_better, served):
    auc = planted().metrics["auc"]
    turned = auc.model_copy(update={"higher_is_better": higher_is_better})
    assert service_direction(auc.findings[0], turned) == served


SUMMARY = planted().summary
PLANTED = SUMMARY.metrics["auc"].findings[0]
COMBINATION, BY_ITSELF, NOT_CERTAIN = (
    "the combination",
    "each condition by itself",
    "not certain which",
)


def finding(word, alone=(), values=(0.2, 0.55, 0.6, 0.5), group=None) -> Finding:
    """The planted one with neighbours of one's own; they meet both, one, the other, neither."""
    group = group or {"gender": "F", "age": "65+"}
    met = [(True, True), (True, False), (False, True), (False, False)]
    if len(group) == 3:
        met = [(True,) * 3, (True, False, False), (False, True, False), (False,) * 3]
    neighbours = tuple(
        Neighbour(
            is_met=dict(zip(group, is_met, strict=True)),
            n_users=1200 if value is not None else 3,
            value=value,
            error=None if value is None else 0.01,
        )
        for is_met, value in zip(met, values, strict=True)
    )
    carried = Interaction(
        carried_by=word, alone=alone, excess=-0.1, error=0.01, neighbours=neighbours
    )
    return PLANTED.model_copy(update={"group": group, "interaction": carried})


@pytest.mark.parametrize(
    ("word", "alone", "says"),
    [
        (COMBINATION, (), "It is the combination."),
        (COMBINATION, ("age",), "It is the combination, and age=65+ by itself."),
        (
            COMBINATION,
            ("gender", "age"),
            "It is the combination, and gender=F, age=65+ each by itself.",
        ),
        (BY_ITSELF, ("gender",), "It is gender=F by itself."),
        (BY_ITSELF, ("gender", "age"), "It is gender=F, age=65+ each by itself."),
        (
            NOT_CERTAIN,
            ("age",),
            "Not certain whether it is the combination, or a condition by itself.",
        ),
    ],
)
def test_the_verdict_in_words(word, alone, says):
    assert carried_by(finding(word, alone), SUMMARY)[0] == says


def test_distances_are_from_those_who_meet_no_condition():
    assert carried_by(finding(COMBINATION), SUMMARY)[1] == (
        "Compared with users who meet neither condition: gender=F alone +0.0500, age=65+ alone "
        "+0.100, both together −0.300."
    )
    three = finding(COMBINATION, group={"gender": "F", "age": "65+", "job": "job1"})
    assert carried_by(three, SUMMARY)[1] == (
        "Compared with users who meet none of the conditions: gender=F alone +0.0500, age=65+ "
        "alone +0.100, all together −0.300."
    )


def test_what_is_not_known_is_said():
    words = carried_by(finding(NOT_CERTAIN, values=(0.2, None, 0.6, 0.5)), SUMMARY)[1]
    assert "gender=F alone not known (too few users), age=65+ alone +0.100" in words
    words = carried_by(finding(NOT_CERTAIN, values=(0.2, 0.5, 0.6, None)), SUMMARY)[1]
    assert words == "Users who meet neither condition are no help: too few users."


def test_rows_name_the_other_value_where_there_is_one_other():
    assert neighbour_rows(finding(COMBINATION), SUMMARY) == (
        ("gender=F, age=65+", "1,200", "0.200", "0.0100"),
        ("gender=F, age not 65+", "1,200", "0.550", "0.0100"),
        ("gender=M, age=65+", "1,200", "0.600", "0.0100"),
        ("gender=M, age not 65+", "1,200", "0.500", "0.0100"),
    )
