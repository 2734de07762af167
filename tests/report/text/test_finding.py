"""One finding as it is written."""

from __future__ import annotations

from fairrec.core.units import USERS
from fairrec.report.findings import (
    because_of,
    difference_of,
    one_at_a_time,
    simultaneous_interval,
    users_known,
    value_of_others,
)
from tests.report.text.planted_report import planted_result

AUC = planted_result().metrics["auc"]
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
    assert difference_of(FINDING) == "−0.200"
    assert difference_of(FINDING, FINDING.shrunken_difference) == "−0.150"
    close = FINDING.model_copy(update={"simultaneous": (-0.20004, -0.19996)})
    assert difference_of(close) == "−0.20000"


def test_what_is_left_of_a_difference_needs_no_digits_to_differ_from_it():
    near = FINDING.model_copy(
        update={"shrunken_difference": -0.19998, "simultaneous": (-0.4, -0.1)}
    )
    assert difference_of(near) == difference_of(near, near.shrunken_difference) == "−0.200"


def test_intervals_say_where_they_have_no_limit():
    assert one_at_a_time(FINDING) == "−0.300 to −0.100"
    assert simultaneous_interval(FINDING) == "−0.400 to no limit"


def test_all_others_are_as_they_are_whatever_the_circumstances():
    assert value_of_others(FINDING) == 0.5
    assert value_of_others(FINDING.model_copy(update={"raw_difference": 0.1})) == 0.3 - 0.1


def test_of_a_group_that_is_not_fully_scored_both_counts_are_told():
    own = FINDING.model_copy(update={"support": 1200, "n_users": 5000})
    assert users_known(own) == "1,200"
    assert users_known(own.model_copy(update={"is_fully_scored": False})) == "1,200 of 5,000"


def test_the_group_without_which_one_would_not_stand_out_is_named():
    assert because_of(FINDING, AUC, USERS.end_words) == ""
    with_other = FINDING.model_copy(update={"because_of": {"tier": "paid"}})
    assert because_of(with_other, AUC, USERS.end_words) == (
        "Without tier=paid, served better than they are, they would not stand out."
    )
    neutral = AUC.model_copy(update={"higher_is_better": None})
    assert because_of(with_other, neutral, USERS.end_words).startswith(
        "Without tier=paid, at the other end, "
    )
