"""The effect of a re-ranking, and its verdict."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from pytest import approx

from fairrec import Engine
from fairrec.core.audit_options import AuditOptions
from fairrec.groups.group import Group
from fairrec.groups.grouping import Grouping
from fairrec.inputs.users import Attribute
from fairrec.metrics import parse_metric
from fairrec.mitigation.effect import (
    distance_change,
    gap_to_others,
    harmed_groups,
    judge_outcome,
    regression,
)
from fairrec.mitigation.result import GapToOthers
from fairrec.mitigation.tuning import Aim
from fairrec.statistics.paired import group_changes
from tests.mitigation.small_summary import before_after, to_others


def three_groups():
    """Few users who all lose much, many who lose little, and some whom nothing happens to."""
    sizes = {"few": 12, "many": 400, "same": 50}
    rng = np.random.default_rng(0)
    lost = {
        "few": 0.3 + 0.001 * np.arange(12),
        "many": 0.05 + 0.1 * rng.normal(size=400),
        "same": np.zeros(50),
    }
    values = (*sizes,)
    codes = np.repeat(np.arange(3), [*sizes.values()])
    attribute = Attribute("who", codes.astype(np.int32), values)
    before = np.full((1, len(codes)), 0.8)
    after = before - np.concatenate([lost[name] for name in sizes])
    grouping = Grouping.of(
        (attribute,), AuditOptions(depth=1, min_support=1, engine=Engine(threads=1))
    )
    return group_changes({"ndcg@5": True}, before, after, grouping, 0.05)


def test_harmed_by_most_standard_errors_come_first():
    changes = three_groups()
    harmed = harmed_groups(changes)
    # with few users a p-value cannot be as small, however far they fell
    few, many = (changes.p_adjusted[0][at] for at in (0, 1))
    assert few > many
    assert [harm.group for harm in harmed] == [{"who": "few"}, {"who": "many"}]


def test_each_group_changes_as_the_table_of_groups_has_it():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3, 300)
    people = (Attribute("who", codes.astype(np.int32), ("a", "b", "c")),)
    before, after = rng.random((2, 300))
    after[codes == 1] = before[codes == 1] + 0.1
    seen = replace(before_after(), before={"urd@5": before}, after={"urd@5": after})
    users = SimpleNamespace(attributes=people)
    split = SimpleNamespace(reported=users, choosing=users)
    groups = seen.mitigated_groups([Group.of(who=value) for value in "abc"], split, before)
    grouping = Grouping.of(people, AuditOptions(depth=1, engine=Engine(threads=1)))
    (found,) = group_changes({"urd@5": True}, before[None], after[None], grouping, 0.05).changes
    for code, group in enumerate(groups):
        assert group.chosen_by == approx(before[codes == code].mean())
        assert group.change.p_value == approx(found.p_value[code])
        assert group.change.interval == approx((found.low[code], found.high[code]))
        assert group.change.n_users == (codes == code).sum()


NOISE = np.random.default_rng(0).normal(size=400)


@pytest.mark.parametrize(
    ("was", "moved", "word"),
    [
        (0.5, -0.4, "improved"),
        (0.5, 0.4, "worse"),
        # as far beyond the others as before on this side of them
        (0.5, -1.0, "changed"),
        (0.5, -2.0, "changed"),
        # it was near the others, and is not now
        (0.0, -0.5, "changed"),
        # on the other side than where it was chosen
        (-0.5, 0.4, "changed"),
        (-0.5, -0.4, "changed"),
        (0.5, 0.0, "unchanged"),
    ],
)
def test_a_distance_is_smaller_only_on_its_own_side(was, moved, word):
    before = was + NOISE - NOISE.mean()
    after = before + moved + 0.1 * abs(moved) * NOISE[::-1]
    change = distance_change(before, after, 0.05)
    assert change.verdict == word
    assert change.change == pytest.approx((after - before).mean())


def test_less_spread_around_the_others_is_no_smaller_distance():
    before = NOISE - NOISE.mean() + 0.01
    change = distance_change(before, 0.3 * before, 0.05)
    assert change.verdict == "not significant"


def outcome(before, now, p_now, verdict="improved"):
    return judge_outcome(verdict, to_others(before, now, p_after=p_now), 0.05)


def test_an_improvement_is_none_where_it_took_groups_away_from_the_others():
    assert outcome(0.1, 0.02, 0.3) == outcome(0.1, -0.02, 0.3) == "improved"
    assert outcome(0.1, -0.05, 0.01) == "turned round"
    assert outcome(0.1, -0.2, 0.01) == "turned round"
    # further away, ahead by chance or ahead before
    assert outcome(0.1, -0.2, 0.3) == outcome(-0.1, -0.2, 0.01) == "gap grew"
    # what is not shown to be good needs no such word
    for verdict in ("worse", "not significant", "unchanged"):
        assert outcome(0.1, -0.2, 0.01, verdict) == verdict
    # without others
    nobody = GapToOthers(before=None, p_before=None, after=None, p_after=None)
    assert judge_outcome("improved", nobody, 0.05) == "improved"


def test_the_gap_of_groups_on_both_sides_is_their_mean_distance():
    rng = np.random.default_rng(0)
    values = rng.normal(size=60) + np.repeat([1.0, -1.0, 0.2], 20)
    side = np.repeat([1.0, -1.0, 1.0], 20)
    is_other = np.repeat([False, False, True], 20)
    gap, p = gap_to_others(values, is_other, side, 0.05)
    rest = values[is_other].mean()
    assert gap == approx(((values[:20] - rest).mean() + (rest - values[20:40]).mean()) / 2)
    # half above and half below: where the others are does not count
    assert gap_to_others(values + 9 * is_other, is_other, side, 0.05)[0] == approx(gap)
    assert p < 0.001
    # one that is alone has no spread, and what is unknown counts nowhere
    values[1:40] = np.nan
    assert gap_to_others(values, is_other, side, 0.05) == (None, None)


def test_where_no_end_is_better_the_target_is_judged_by_its_distance_from_the_others():
    # the others have 0.6, and women were below them where they were chosen, or above
    for side in (-1.0, 1.0):
        seen = before_after("urp@5", side)
        change = seen.chosen_change(seen.target)
        assert (change.before, change.after) == (
            approx(side * (0.3 - 0.6)),
            approx(side * (0.5 - 0.6)),
        )
        assert seen.chosen_change(parse_metric("ndcg@5")).before == approx((0.5 + 0.7) / 2)
        assert seen.gap_to_others().before == approx(side * (0.3 - 0.6))


def test_effects_are_those_of_the_chosen_the_others_and_everyone():
    seen = before_after()
    gaps = [{"urd@5": SimpleNamespace(gap=gap, chance=None)} for gap in (0.4, 0.1)]
    effect = seen.metric_effect(seen.target, 3, gaps)
    assert [
        (part.n_users, part.before, part.after)
        for part in (effect.chosen, effect.others, effect.everyone)
    ] == [
        (2, approx(0.3), approx(0.5)),
        (2, approx(0.6), approx(0.6)),
        # two of four users gain 0.2
        (4, approx(1.8 / 4), approx((1.8 + 2 * 0.2) / 4)),
    ]
    assert (effect.gap.before, effect.gap.after, effect.n_groups_worse) == (0.4, 0.1, 3)


def test_regression_compares_both_targets_without_any_re_ranking():
    seen = before_after()
    chosen_by, group = np.array([0.1, 0.9, 0.5, np.nan]), np.array([0, -1, -1, -1])
    found = regression(Aim(True, 0.7), chosen_by, group, seen)
    assert (found.chosen_by, found.fresh) == (approx(0.1), approx(0.3))
    assert (found.others_chosen_by, found.others_fresh) == (0.7, 0.6)
