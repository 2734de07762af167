"""What a re-ranking did, and what it is called."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import get_args

import numpy as np
import polars as pl
import pytest
from pytest import approx

from fairrec import Engine
from fairrec.core.audit_options import AuditOptions
from fairrec.groups.group import Group
from fairrec.groups.grouping import Grouping
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.users import Attribute
from fairrec.mitigation.choosing import AtStrength, read_split
from fairrec.mitigation.effect import (
    build_summary,
    detectable_change,
    distance_change,
    gap_to_others,
    harmed_groups,
    judge_outcome,
)
from fairrec.mitigation.options import MitigationOptions
from fairrec.mitigation.result import (
    CHANGE_COLUMNS,
    GapToOthers,
    GroupCounts,
    MitigationSummary,
    RerankerRecord,
    change_table,
)
from fairrec.result.metric_schema import GapChange
from fairrec.statistics.paired import ChangeVerdict, group_changes
from tests.mitigation.small_summary import NAN, before_after, chance, to_others


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


def test_no_attribute_can_have_the_name_of_a_column_beside_it():
    changes = three_groups()
    table = change_table(changes)
    assert {*table.columns} - {"who"} == {*CHANGE_COLUMNS}


def test_each_group_changes_as_the_table_of_groups_has_it():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3, 300)
    people = (Attribute("who", codes.astype(np.int32), ("a", "b", "c")),)
    before, after = rng.random((2, 300))
    after[codes == 1] = before[codes == 1] + 0.1
    both = {"before": np.stack([before, before]), "after": np.stack([after, after])}
    chosen = tuple(Group.of(who=value) for value in "abc")
    seen = before_after(
        **both, chosen_by=both["before"], users=people, choosers=people, chosen=chosen
    )
    grouping = Grouping.of(people, AuditOptions(depth=1, engine=Engine(threads=1)))
    (found,) = group_changes({"ndcg@5": True}, before[None], after[None], grouping, 0.05).changes
    for code, group in enumerate(seen.groups()):
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
        (0.5, -2.0, "worse"),
        # it was near the others, and is not now
        (0.0, -0.5, "worse"),
        # on the other side than where it was chosen
        (-0.5, 0.4, "changed"),
        (-0.5, -0.4, "worse"),
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


def test_what_could_have_been_seen_is_what_half_of_those_that_can_show_anything_would_show():
    changes = three_groups()
    least = changes.changes[0].least_shown(0.05 / 2)
    assert detectable_change(changes, 0).n_groups == 2
    # of two groups the one that shows the smaller change is half of them
    assert detectable_change(changes, 0).least_shown == min(least[0], least[1])
    assert detectable_change(changes, 0).n_blind == 0
    # at a level that twelve users can never reach, one of the two shows nothing
    strict = replace(changes, alpha=2e-5)
    assert detectable_change(strict, 0).n_blind == 1
    assert detectable_change(strict, 0).least_shown == strict.changes[0].least_shown(1e-5)[1]
    blind = replace(changes, alpha=2e-200)
    assert (detectable_change(blind, 0).n_blind, detectable_change(blind, 0).least_shown) == (
        2,
        None,
    )


def outcome(before, now, p_now, verdict="improved", **intersections):
    p_values = {"chance_before": chance(0.5), "chance_after": chance(0.01)}
    gaps = GapChange(before=0.1, after=0.05, **p_values)
    gap = gaps.model_copy(update=intersections)
    return judge_outcome(verdict, to_others(before, now, p_after=p_now), gap, 0.05)


def test_an_improvement_is_none_where_it_took_groups_apart():
    assert outcome(0.1, 0.02, 0.3) == outcome(0.1, -0.02, 0.3) == "improved"
    assert outcome(0.1, -0.05, 0.01) == "turned round"
    assert outcome(0.1, -0.2, 0.01) == "turned round"
    # further away, ahead by chance or ahead before
    assert outcome(0.1, -0.2, 0.3) == "gap grew"
    assert outcome(-0.1, -0.2, 0.01) == "gap grew"
    # between intersections, if that is more than chance
    assert outcome(0.1, 0.02, 0.3, after=0.2) == "intersections further apart"
    assert outcome(0.1, 0.02, 0.3, after=0.2, chance_after=chance(0.06)) == "improved"
    assert outcome(0.1, 0.02, 0.3, after=0.2, chance_after=None) == "improved"
    # what is not shown to be good needs no such word
    for verdict in ("worse", "not significant", "unchanged"):
        assert outcome(0.1, -0.2, 0.01, verdict, after=0.2) == verdict
    # without others
    nobody = GapToOthers(before=None, p_before=None, after=None, p_after=None)
    untested = GapChange(before=0.1, after=0.2, chance_before=None, chance_after=None)
    assert judge_outcome("improved", nobody, untested, 0.05) == "improved"


def test_the_gap_of_groups_on_both_sides_is_their_mean_distance():
    rng = np.random.default_rng(0)
    values = rng.normal(size=60) + np.repeat([1.0, -1.0, 0.2], 20)
    side = np.repeat([1.0, -1.0, np.nan], 20)
    is_other = np.isnan(side)
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
    seen = before_after("urp@5")
    assert (seen.is_distance(0), seen.is_distance(1)) == (True, False)
    change = seen.chosen_change(0)
    # the others have 0.6
    assert (change.before, change.after) == (approx(0.6 - 0.3), approx(0.6 - 0.5))
    assert seen.chosen_change(1).before == approx((0.5 + 0.7) / 2)


def test_the_side_of_a_distance_is_the_one_it_was_chosen_on():
    """Women were above the others where they were chosen, and are below them where reported."""
    above = np.array([[0.9, 0.9, 0.5, NAN], [0.4, 0.8, 0.6, 0.6]])
    seen = before_after("urp@5", chosen_by=above)
    change = seen.chosen_change(0)
    assert (change.before, change.after) == (approx(0.3 - 0.6), approx(0.5 - 0.6))
    assert seen.regression().chosen_by == approx(0.9 - 0.5)
    assert seen.regression().fresh == approx(0.3 - 0.6)
    assert seen.trade_off(TUNED, MEASURED)[0].reported == approx(0.3 - 0.6)


def test_each_group_has_its_value_where_it_was_chosen_and_where_it_is_reported():
    (women,) = before_after().groups()
    assert (women.group, women.chosen_by) == ({"gender": "F"}, 0.1)
    assert (women.change.before, women.change.after) == (approx(0.3), approx(0.5))
    (unknown,) = before_after(chosen_by=np.full((2, 4), NAN)).groups()
    assert unknown.chosen_by is None


def test_regression_compares_both_targets_without_any_re_ranking():
    seen = before_after().regression()
    assert (seen.chosen_by, seen.fresh) == (approx(0.1), approx(0.3))
    assert (seen.others_chosen_by, seen.others_fresh) == (0.5, approx(0.6))
    away = before_after("urp@5").regression()
    assert (away.chosen_by, away.fresh) == (approx(0.5 - 0.1), approx(0.6 - 0.3))


TUNED = {0.0: AtStrength(0.1, 0.5, 0.0), 1.0: AtStrength(0.2, NAN, 0.0)}
# target and cost of the two re-ranked users at both strengths
MEASURED = np.array(
    [
        [[0.2, 0.4], [0.5, 0.7]],
        [[0.4, 0.6], [0.3, 0.5]],
    ]
)


def test_the_trade_off_has_the_chosen_groups_and_what_everyone_pays():
    nothing, everything = before_after().trade_off(TUNED, MEASURED)
    assert (nothing.strength, everything.strength) == (0.0, 1.0)
    assert (nothing.tuned, nothing.tuned_cost) == (0.1, 0.5)
    assert (everything.tuned, everything.tuned_cost) == (0.2, None)
    assert (nothing.reported, everything.reported) == (approx(0.3), approx(0.5))
    assert (nothing.reported_cost, everything.reported_cost) == (approx(0.6), approx(0.4))
    # the two others keep their 0.1 and 0.3
    assert nothing.everyone_cost == approx((0.5 + 0.7 + 0.1 + 0.3) / 4)
    assert everything.everyone_cost == approx((0.3 + 0.5 + 0.1 + 0.3) / 4)


def test_without_labels_there_is_no_cost():
    seen = before_after()
    seen = replace(seen, measures=replace(seen.measures, cost=None))
    measured = MEASURED.copy()
    measured[:, 1] = NAN
    points = seen.trade_off(TUNED, measured)
    assert [point.everyone_cost for point in points] == [None, None]
    assert points[1].reported == approx(0.5)


OPTIONS = AuditOptions(depth=1, min_support=1, engine=Engine(threads=1), seed=7)


def small_lists(n_users: int) -> pl.DataFrame:
    """Two candidates each, the first of which is the target."""
    rows = [(user, item, -item, int(item == 0)) for user in range(n_users) for item in (0, 1)]
    return pl.DataFrame(rows, schema=["user_id", "item_id", "score", "label"], orient="row")


def summary(
    strength="auto", taken=0.5, n_tuned=1, command=None, behind=1.0, **changes
) -> MitigationSummary:
    """Of four users, with the targets of all of them to choose by.

    Parameters
    ----------
    behind : how far the chosen groups are behind at strength 0 where it was tuned
    """
    plan = MitigationOptions("urd@5", strength=strength, reranker="mmr")
    seen = before_after(**changes)
    users = pl.DataFrame({"user_id": range(4), "gender": [*"FFXX"]})
    items = pl.DataFrame({"item_id": [0, 1], "categories": [["a"], ["b"]]})
    tables = TableOptions(users=users, by="gender", items=items, metrics=["urd@5", "ndcg@5"])
    split = read_split(small_lists(4), small_lists(4), tables, seed=0)
    grouping = Grouping.of(seen.users, OPTIONS)
    groups = group_changes(seen.measures.directions, seen.before, seen.after, grouping, 0.05)
    audits = [
        {metric.name: SimpleNamespace(gap=gap, chance=None) for metric in seen.measures.metrics}
        for gap in (0.4, 0.1)
    ]
    record = RerankerRecord(
        fairrec_version="0",
        reranker="mmr",
        strength=taken,
        metric="urd@5",
        k=5,
        by=("gender",),
        groups=(),
    )
    levels = {0.0: AtStrength(seen.aim.rest - behind, 0.5, 0.01)}
    return build_summary(
        plan, OPTIONS, split, record, seen, groups, audits, levels, MEASURED[:1], n_tuned, command
    )


def test_effects_are_told_for_the_chosen_the_others_and_everyone():
    effect = summary().effects["urd@5"]
    assert [
        (part.n_users, part.before, part.after)
        for part in (effect.chosen, effect.others, effect.everyone)
    ] == [
        (2, approx(0.3), approx(0.5)),
        (2, approx(0.6), approx(0.6)),
        # two of four users gain 0.2
        (4, approx(1.8 / 4), approx((1.8 + 2 * 0.2) / 4)),
    ]
    assert (effect.gap.before, effect.gap.after) == (0.4, 0.1)


def test_the_plan_the_users_and_the_call_are_named():
    told = summary()
    assert (told.metric, told.cost_metric, told.reranker) == ("urd@5", "ndcg@5", "mmr")
    assert (told.seed, told.k, told.strength, told.is_tuned) == (7, 5, 0.5, True)
    assert (told.n_users_choosing, told.n_users_tuning, told.n_users_reported) == (4, 1, 4)
    # each has one target, and it is the same in both tables
    assert told.n_shared_targets == 4
    assert "metric='urd@5'" in told.command
    assert summary(command="fairrec mitigate a").command == "fairrec mitigate a"
    assert not summary(strength=0.5).is_tuned


def test_the_reader_is_told_what_is_out_of_the_ordinary():
    assert summary().notes == ()
    (nothing,) = summary(taken=0.0).notes
    assert "No strength" in nothing and "nothing is changed" in nothing
    (level,) = summary(taken=0.0, behind=0.005).notes
    assert "one standard error" in level and "nothing is changed" in level
    # a strength of 0 that was asked for is no surprise
    assert summary(taken=0.0, strength=0.0).notes == ()
    (nobody,) = summary(n_tuned=0).notes
    assert "Nobody was left" in nobody


def test_groups_are_counted_by_every_verdict():
    assert set(GroupCounts.model_fields) == {
        name.replace(" ", "_") for name in get_args(ChangeVerdict)
    }
