from __future__ import annotations

import polars as pl

import fairrec
from fairrec.comparison.words import about, headline, how, said_of, status_of, tone_of
from fairrec.core.units import ITEMS
from fairrec.result.metric_schema import CertifiedSize
from tests.compared_audits import audited, users_table
from tests.comparison.small_comparison import compared, with_metric


def test_the_answer_has_the_mean_the_group_that_lost_and_whether_it_lost_more():
    summary = compared().summary
    mean, lost, more = headline(summary).removesuffix(".").split(". ", maxsplit=2)
    assert mean.startswith("On average clicks became worse (4.")
    n_more = summary.metrics["clicks"].n_lost_by_more - 1
    assert lost.startswith("plan=free lost by more than 0.300 (")
    assert lost.endswith(f"as did {n_more} more of {summary.metrics['clicks'].n_groups} groups")
    assert more.startswith("plan=free lost more than all others (−")
    assert tone_of(summary) == "found"


def test_a_loss_that_all_share_is_no_loss_beyond_the_others():
    users = users_table()
    pair = audited(users, 1), audited(users, 2, {"plan=free": 1.0, "plan=paid": 1.0})
    summary = fairrec.compare(*pair).summary
    assert summary.metrics["clicks"].n_lost > 10
    assert headline(summary).endswith(". None is shown to have lost more than all others.")
    assert summary.metrics["clicks"].n_behind == 0
    turned = fairrec.compare(*pair[::-1]).summary
    assert turned.outcome == "no loss" and tone_of(turned) == "clear"
    assert headline(turned).startswith("On average clicks improved (3.")
    assert " No group of a single attribute lost, " in headline(turned)
    assert headline(turned).endswith(" None is shown to have gained less than all others.")


def test_without_an_amount_a_group_lost_and_without_a_better_end_it_changed():
    assert ". plan=free lost (" in headline(compared(tolerance=None).summary)
    neutral = compared(better="", tolerance=None).summary
    assert ". plan=free changed (" in headline(neutral)
    # which is no alarm
    assert tone_of(neutral) == "open"
    assert status_of(neutral.metrics["clicks"]) == "changed"


def test_the_answer_says_how_many_gained_where_no_group_lost():
    better = compared(fall=-1.0).summary
    n, n_groups = better.metrics["clicks"].n_gained, better.metrics["clicks"].n_groups
    assert f" No group is shown to have lost, {n} of {n_groups} gained." in headline(better)
    assert better.outcome == "gained"
    # a group that gained in two metrics is one group
    one = better.metrics["clicks"]
    twice = better.model_copy(update={"metrics": {"clicks": one, "views": one}})
    assert headline(twice).startswith("On average both metrics improved (clicks 4.")
    assert f"lost, up to {n} of {n_groups} gained." in headline(twice)
    thrice = better.model_copy(update={"metrics": dict.fromkeys(("a", "b", "c"), one)})
    assert headline(thrice).startswith("On average all 3 metrics improved (a 4.")
    same = compared(fall=0.0).summary
    assert headline(same).startswith("On average clicks did not change significantly (")
    assert headline(same).endswith(" No group is shown to have lost.")
    assert tone_of(same) == "open"
    certain = compared(fall=0.0, tolerance=5.0).summary
    assert headline(certain).endswith(" No group of a single attribute lost by more than 5.00.")
    assert tone_of(certain) == "clear"


def test_of_metrics_that_part_it_is_said_how_many_went_which_way():
    worse, better = compared().summary, compared(fall=-1.0).summary
    metrics = {"clicks": worse.metrics["clicks"], "views": better.metrics["clicks"]}
    said = headline(worse.model_copy(update={"metrics": metrics}))
    assert said.startswith("On average, of 2 metrics 1 became worse (clicks 4.")
    assert ", 1 improved (views 4." in said
    assert ". In clicks plan=free lost by more than" in said
    assert "lost more than all others in clicks (" in said


def test_what_is_compared_and_how_is_told():
    summary = compared().summary
    assert about(summary) == "als 1 (600 users) → candidate (600 users)"
    n_groups = summary.metrics["clicks"].n_groups
    assert how(summary) == (
        "The same 600 users in both audits. "
        f"Intervals of groups hold at 95% for all {n_groups} changes of 1 metric at once, and for "
        "their differences from all others."
    )
    pairing = summary.pairing.model_copy(update={"is_paired": False, "why": "no ids"})
    unpaired = summary.model_copy(update={"pairing": pairing})
    assert how(unpaired).startswith("Two sets of users, not paired: no ids. ")
    # the same items, which are not paired either
    items = unpaired.model_copy(update={"unit": ITEMS})
    assert how(items).startswith("Not paired: no ids. ")


def test_where_no_end_is_better_groups_changed():
    neutral = compared(better="", tolerance=None).summary
    counts, *_ = said_of("clicks", neutral)
    assert " changed unlike all others" in counts and "gained" not in counts
    changed = {"n_groups": 13, "n_lost": 4, "n_lost_by_more": 1, "n_behind": 2, "n_ruled_out": 7}
    changed["n_open"] = 2
    counts, *_ = said_of("clicks", with_metric(neutral, tolerance=0.5, **changed))
    assert counts == (
        "Of 13 groups 4 changed (1 by more than 0.500), 2 changed unlike all others, 7 changed by "
        "no more than 0.500 if at all, 2 are inconclusive."
    )


def test_a_metric_is_told_by_its_groups_and_by_what_is_ruled_out():
    counts, ruled_out = said_of("clicks", compared().summary)
    assert " lost (" in counts and " lost more, or gained less, than all others" in counts
    assert counts.endswith(" inconclusive.")
    assert ruled_out.startswith("Ruled out: that a group of ")


def test_of_what_is_ruled_out_the_usual_sizes_are_told():
    steps = tuple(
        CertifiedSize(support=size, harm=harm, n_groups=3)
        for size, harm in ((10, 0.9), (120, 0.4), (500, 0.2), (2000, 0.1))
    )
    summary = with_metric(compared().summary, certificate=steps)
    *_, said = said_of("clicks", summary)
    assert said.endswith(
        "of 120 users or more, other than those that did, lost by more than "
        "0.400; of 2,000 or more by 0.100."
    )
    *_, said = said_of("clicks", with_metric(summary, certificate=steps[:1]))
    assert "a group of 10 users or more" in said
    *_, said = said_of("clicks", with_metric(summary, is_conclusive=False))
    assert said == "Too many users have no value for anything to be ruled out."


def test_a_metric_nobody_has_twice_is_told_without_its_mean():
    summary = with_metric(compared().summary, everyone=None)
    assert headline(summary).startswith("plan=free lost")


def test_an_audit_compared_with_itself_has_the_same_values_of_all_users():
    users = users_table()
    same = fairrec.compare(audited(users, 1), audited(users, 1)).summary
    n_users = same.pairing.n_shared
    assert headline(same).startswith(f"All {n_users} users have the same values in both audits. ")


def test_values_that_change_places_are_not_the_same():
    users = users_table()
    by_place = [pl.Series("clicks", [(i + one) % 2 for i in range(users.height)]) for one in (0, 1)]
    swapped = [
        fairrec.audit(values=users.with_columns(one), by="plan", better="clicks=higher")
        for one in by_place
    ]
    said = headline(fairrec.compare(*swapped).summary)
    assert said.startswith("On average clicks did not change (0.500")
