from __future__ import annotations

from fairrec.core.units import ITEMS
from fairrec.report.comparison.words import about, headline, how, said_of, status_of, tone_of
from fairrec.result.metric_schema import CertifiedSize
from tests.report.comparison.small_comparison import compared, with_metric


def test_the_answer_names_the_group_that_became_worse():
    summary = compared().summary
    assert headline(summary).startswith("plan=free became worse by more than matters: clicks ")
    n_more = summary.metrics["clicks"].n_worse + summary.metrics["clicks"].n_worse_by_more - 1
    assert headline(summary).endswith(f"; {n_more} more")
    assert tone_of(summary) == "found"


def test_without_an_amount_a_group_became_worse_and_without_a_better_end_it_changed():
    assert headline(compared(matters=None).summary).startswith("plan=free became worse: clicks")
    neutral = compared(better="", matters=None).summary
    assert headline(neutral).startswith("plan=free changed: clicks")
    # which is no alarm
    assert tone_of(neutral) == "open"
    assert status_of(neutral.metrics["clicks"]) == "differs"


def test_the_answer_says_who_improved_where_nobody_became_worse():
    better = compared(fall=-1.0).summary
    n = better.metrics["clicks"].n_improved
    assert headline(better) == f"No group is shown to be worse; {n} groups improved"
    # a group that improved in two metrics is one group
    one = better.metrics["clicks"]
    twice = better.model_copy(update={"metrics": {"clicks": one, "views": one}})
    assert headline(twice).endswith(f"; up to {n} groups improved in a metric")
    same = compared(fall=0.0).summary
    assert headline(same) == "No group is shown to be worse or better"
    assert tone_of(same) == "open"
    certain = compared(fall=0.0, matters=5.0).summary
    assert headline(certain) == "No group of a single attribute became worse by more than matters"
    assert tone_of(certain) == "clear"


def test_what_is_compared_and_how_is_told():
    summary = compared().summary
    assert about(summary) == "als 1 (600 users) → candidate (600 users)"
    n_groups = summary.metrics["clicks"].n_groups
    assert how(summary) == (
        "The same 600 users in both audits. "
        f"Intervals hold at 95% for all {n_groups} changes of 1 metric at once."
    )
    pairing = summary.pairing.model_copy(update={"is_paired": False, "why": "no ids"})
    unpaired = summary.model_copy(update={"pairing": pairing})
    assert how(unpaired).startswith("Two sets of users, not paired: no ids. ")
    # the same items, which are not paired either
    items = unpaired.model_copy(update={"unit": ITEMS})
    assert how(items).startswith("Not paired: no ids. ")


def test_where_no_end_is_better_changes_that_do_not_matter_are_no_groups_without_one():
    neutral = compared(better="", matters=None).summary
    _, counts, *_ = said_of("clicks", neutral)
    assert counts.endswith(" groups changed.")
    # every group changed, most of them by less than matters
    changed = {"n_groups": 13, "n_worse": 3, "n_worse_by_more": 1, "n_open": 2, "n_ruled_out": 7}
    _, counts, *_ = said_of("clicks", with_metric(neutral, matters=0.5, **changed))
    assert counts == (
        "4 of 13 groups changed (1 by more than matters); 2 may have changed by more than matters "
        "or not; 7 changed by no more than matters, if at all."
    )


def test_a_metric_is_told_for_everyone_for_groups_and_for_what_is_ruled_out():
    everyone, counts, ruled_out = said_of("clicks", compared().summary)
    assert everyone.startswith("All users: ") and "Gap between intersections: " in everyone
    assert " became worse (" in counts and counts.endswith(
        " and 0 improved; 16 may be worse by more than matters or not."
    )
    assert ruled_out.startswith("Ruled out: that a group of ")


def test_of_what_is_ruled_out_the_usual_sizes_are_told():
    steps = tuple(
        CertifiedSize(support=size, harm=harm, n_groups=3)
        for size, harm in ((10, 0.9), (120, 0.4), (500, 0.2), (2000, 0.1))
    )
    summary = with_metric(compared().summary, certificate=steps)
    *_, said = said_of("clicks", summary)
    assert said.endswith(
        "of 120 users or more, other than those shown, became worse by more than "
        "0.400; of 2,000 or more by 0.100."
    )
    *_, said = said_of("clicks", with_metric(summary, certificate=steps[:1]))
    assert "a group of 10 users or more" in said
    *_, said = said_of("clicks", with_metric(summary, is_conclusive=False))
    assert said == "Too many users have no value for anything to be ruled out."


def test_a_metric_nobody_has_twice_is_told_without_everyone():
    summary = with_metric(compared().summary, everyone=None)
    assert not any("All users" in line for line in said_of("clicks", summary))
