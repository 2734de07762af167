"""A mitigation in sentences."""

from __future__ import annotations

from functools import cache

import pytest

from fairrec.core.options import from_command_line
from fairrec.report.mitigation.words import headline, sentences, stamps
from fairrec.result.mitigation_schema import MitigationSummary
from tests.mitigation.planted import mitigate, planted


@cache
def summary() -> MitigationSummary:
    return mitigate(planted(), "ndcg@5", strength=0.5, permutations=0).summary


def changed(verdict: str) -> MitigationSummary:
    """The same with another verdict on the chosen groups."""
    target = summary().effects["ndcg@5"]
    chosen = target.chosen.model_copy(update={"verdict": verdict})
    effects = {**summary().effects, "ndcg@5": target.model_copy(update={"chosen": chosen})}
    return summary().model_copy(update={"effects": effects})


@pytest.mark.parametrize(
    ("verdict", "says"),
    [
        ("improved", ", a significant improvement."),
        ("worse", ", significantly worse."),
        ("not significant", ", a change that is not significant."),
        ("unchanged", ", so it did not change."),
    ],
)
def test_the_headline_says_whether_the_change_is_significant(verdict, says):
    assert headline(changed(verdict)).endswith(says)


def test_metrics_the_chosen_groups_lost_by_are_named():
    assert "Significantly worse for the chosen groups: ndcg@5." in sentences(changed("worse"))


def test_targets_that_were_chosen_by_are_not_called_held_out():
    shared = summary().model_copy(update={"n_shared_targets": 3})
    assert any("the held-out test targets" in said for said in sentences(summary()))
    assert not any("held-out" in said for said in sentences(shared))
    assert stamps(shared)[0].startswith("SAME TARGETS: 3 targets")


def test_levelling_down_is_stamped_with_the_option_as_it_was_given():
    down = summary().model_copy(update={"allows_level_down": True})
    assert stamps(down)[0].endswith("(allow_level_down=True).")
    with from_command_line():
        assert stamps(down)[0].endswith("(--allow-level-down).")
