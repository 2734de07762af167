"""What a re-ranking did, and what it is called."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import get_args

import numpy as np
import polars as pl
import pytest
from pytest import approx

import fairrec
from fairrec import Engine
from fairrec.core.audit_options import AuditOptions
from fairrec.core.errors import InputError
from fairrec.groups.group import Group
from fairrec.groups.grouping import Grouping
from fairrec.inputs.candidates import CandidateLists
from fairrec.inputs.catalogue import read_catalogue
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.tables import Table
from fairrec.inputs.users import Attribute
from fairrec.mitigation.effect import (
    build_summary,
    distance_change,
    exposure_changes,
    gap_to_others,
    harmed_groups,
    judge_outcome,
    ordered_changes,
)
from fairrec.mitigation.fitted_reranker import build_record
from fairrec.mitigation.options import MitigationOptions
from fairrec.mitigation.result import (
    CHANGE_COLUMNS,
    GapToOthers,
    GroupCounts,
    MitigationSummary,
    change_table,
)
from fairrec.mitigation.splitting import Choice, read_split
from fairrec.mitigation.tuning import Levels
from fairrec.mitigation.view import build_mitigation_view
from fairrec.result.metric_schema import GapChange
from fairrec.statistics.paired import ChangeVerdict, group_changes
from tests.mitigation.planted import mitigate, planted
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
    groups = tuple(Group.of(who=value) for value in "abc")
    choice = Choice(groups, groups, np.ones(300, dtype=bool))
    seen = before_after(
        **both, chosen_by=both["before"], users=people, choosers=people, choice=choice
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


def test_changes_come_worst_first_without_the_groups_that_nothing_happened_to():
    changes = three_groups()
    ordered = ordered_changes(changes, 0)
    assert ordered.n_groups == 2
    assert ordered.changes == tuple(changes.changes[0].change[:2].tolist())
    assert ordered.changes[0] < ordered.changes[1] < 0
    assert ordered.verdicts == ("worse", "worse")


def test_what_could_have_been_seen_is_what_half_of_those_that_can_show_anything_would_show():
    changes = three_groups()
    least = changes.changes[0].least_shown(0.05 / 2)
    # of two groups the one that shows the smaller change is half of them
    assert ordered_changes(changes, 0).least_shown == min(least[0], least[1])
    assert ordered_changes(changes, 0).n_blind == 0
    # at a level that twelve users can never reach, one of the two shows nothing
    strict = replace(changes, alpha=2e-5)
    assert ordered_changes(strict, 0).n_blind == 1
    assert ordered_changes(strict, 0).least_shown == strict.changes[0].least_shown(1e-5)[1]
    blind = replace(changes, alpha=2e-200)
    assert (ordered_changes(blind, 0).n_blind, ordered_changes(blind, 0).least_shown) == (2, None)


def test_of_many_groups_marks_at_equal_distances_are_kept_with_both_ends(monkeypatch):
    changes = three_groups()
    moved = replace(changes.changes[0], n_changed=np.full(3, 9.0))
    everyone = replace(changes, changes=(moved,))
    assert len(ordered_changes(everyone, 0).changes) == 3
    monkeypatch.setattr("fairrec.mitigation.effect.MARKS_SHOWN", 2)
    few = ordered_changes(everyone, 0)
    assert few.n_groups == 3
    assert few.changes == (moved.change.min(), moved.change.max())
    assert few.verdicts == ("worse", "unchanged")


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


def test_the_others_are_those_of_the_users_reported_on():
    seen = before_after()
    assert seen.reported_aim.rest == approx((0.5 + 0.7) / 2)
    assert seen.aim.rest == 0.5


def test_the_change_of_the_chosen_groups_is_that_of_their_users():
    change = before_after().chosen_change(0)
    assert change.n_users == 2
    assert (change.before, change.after) == (approx(0.3), approx(0.5))
    assert change.change == approx(0.2)


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


TUNED = Levels((0.0, 1.0), np.array([0.1, 0.2]), np.array([0.5, NAN]), np.zeros(2))
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
    strength="auto", taken=0.5, validation=2, command=None, was_level=False, **changes
) -> MitigationSummary:
    """Of four users, with the targets of some of them to choose by."""
    plan = MitigationOptions("urd@5", strength=strength, reranker="mmr")
    seen = before_after(**changes)
    users = pl.DataFrame({"user_id": range(4), "gender": [*"FFXX"]})
    items = pl.DataFrame({"item_id": [0, 1], "categories": [["a"], ["b"]]})
    tables = TableOptions(users=users, by="gender", items=items, metrics=["urd@5", "ndcg@5"])
    split = read_split(small_lists(4), small_lists(validation), tables, seed=0)
    record = build_record(plan, ("gender",), seen.choice, seen.aim)
    metrics = seen.measures.metrics
    grouping = Grouping.of(seen.users, OPTIONS)
    groups = group_changes(seen.measures.directions, seen.before, seen.after, grouping, 0.05)
    audits = [
        {metric.name: SimpleNamespace(gap=gap, chance=None) for metric in metrics}
        for gap in (0.4, 0.1)
    ]
    record = record.model_copy(update={"strength": taken})
    return build_summary(
        plan, OPTIONS, split, record, seen, groups, audits, was_level, (), (), command
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
    assert (told.n_users_choosing, told.n_users_tuning, told.n_users_reported) == (2, 1, 4)
    # the two have one target each, and it is the same in both tables
    assert told.n_shared_targets == 2
    assert "metric='urd@5'" in told.command
    assert summary(command="fairrec mitigate a").command == "fairrec mitigate a"
    assert not summary(strength=0.5).is_tuned


def test_the_reader_is_told_what_is_out_of_the_ordinary():
    assert summary(validation=4).notes == ()
    (others,) = summary(validation=2).notes
    assert re.findall(r"\d+", others) == ["2", "4"]
    (nothing,) = summary(validation=4, taken=0.0).notes
    assert "No strength" in nothing and "nothing is changed" in nothing
    (level,) = summary(validation=4, taken=0.0, was_level=True).notes
    assert "one standard error" in level and "nothing is changed" in level
    # a strength of 0 that was asked for is no surprise
    assert summary(validation=4, taken=0.0, strength=0.0).notes == ()
    choice = before_after().choice
    nobody = type(choice)(choice.groups, (), np.zeros(4, dtype=bool))
    assert len(summary(validation=4, choice=nobody).notes) == 1


def test_groups_are_counted_by_every_verdict():
    assert set(GroupCounts.model_fields) == {
        name.replace(" ", "_") for name in get_args(ChangeVerdict)
    }


def lists_of(rng: np.random.Generator, lengths: list[int]) -> CandidateLists:
    items = [rng.permutation(9)[:n] for n in lengths]
    return CandidateLists(
        np.concatenate([[0], np.cumsum(lengths)]),
        np.concatenate(items).astype(np.int32),
        rng.random(sum(lengths)),
        None,
        # the last one is not in the table of items
        pl.Series([f"i{item}" for item in range(9)]),
    )


def slow_share(lists: CandidateLists, k: int, members: set[str], known: set[str]) -> list[float]:
    """Of the attention to items whose value is known."""
    shares = []
    for user in range(lists.n_users):
        rows = range(lists.offsets[user], lists.offsets[user + 1])
        first = sorted(rows, key=lambda row: -lists.scores[row])[:k]
        ids = [lists.item_ids[int(lists.items[row])] for row in first]
        weights = {item: 1 / np.log2(rank + 2) for rank, item in enumerate(ids) if item in known}
        theirs = [weight for item, weight in weights.items() if item in members]
        shares.append(sum(theirs) / sum(weights.values()) if weights else np.nan)
    return shares


def test_shares_of_attention_are_those_of_a_slow_loop():
    rng = np.random.default_rng(1)
    before = lists_of(rng, [6, 2, 0, 9, 4])
    after = CandidateLists(
        before.offsets, before.items, rng.random(len(before.items)), None, before.item_ids
    )
    kinds = dict(zip([f"i{i}" for i in range(8)], [*"aabbcca", None], strict=True))
    table = pl.DataFrame({"item_id": [*kinds], "kind": [*kinds.values()]})
    found = exposure_changes(
        before, after, read_catalogue(Table(table, "items"), ["kind"]), 3, 0.05
    )
    n_items = {one.group["kind"]: one.n_items for one in found}
    assert n_items == {"a": 3, "b": 2, "c": 2, "(missing)": 1}
    for one in found:
        kind = None if one.group["kind"] == "(missing)" else one.group["kind"]
        members = {item for item, its in kinds.items() if its == kind}
        # those without a kind have a share of the attention to all in the table
        known = {item for item, its in kinds.items() if kind is None or its is not None}
        first, then = (
            np.nanmean(slow_share(lists, 3, members, known)) for lists in (before, after)
        )
        assert one.change.before == pytest.approx(first)
        assert one.change.after == pytest.approx(then)
        assert one.change.n_users == 4
        if kind is not None:
            audited = fairrec.audit(
                pl.DataFrame(
                    {
                        "user_id": np.repeat(range(5), np.diff(before.offsets)),
                        "item_id": before.item_ids.gather(before.items),
                        "score": before.scores,
                    }
                ),
                items=table,
                users=pl.DataFrame({"user_id": range(5), "group": "g"}),
                by="group",
                metrics=f"share@3[kind={kind}]",
                min_support=1,
                statistics=fairrec.Statistics(permutations=0),
            )
            assert audited.metrics[f"share@3[kind={kind}]"].mean == pytest.approx(first)
        assert one.share_of_items == one.n_items / 8
    sizes = [abs(one.change.change) for one in found]
    assert sizes == sorted(sizes, reverse=True)


def test_diverse_lists_take_attention_from_the_kind_that_filled_them():
    rng = np.random.default_rng(0)
    users = pl.DataFrame({"user_id": range(400), "age": ["young", "old"] * 200})
    items = pl.DataFrame({"item_id": range(40), "categories": [f"c{i % 10}" for i in range(40)]})
    shown = [rng.permutation(40)[:20] for _ in range(400)]
    scores = [rng.random(20) + (u % 2) * (mine % 10 == 0) for u, mine in enumerate(shown)]
    lists = pl.DataFrame(
        {
            "user_id": range(400),
            "item_id": [mine.tolist() for mine in shown],
            "score": [one.tolist() for one in scores],
            "label": [[1] + [0] * 19] * 400,
        }
    )
    result = fairrec.mitigate(
        lists, users=users, items=items, by="age", metric="urd@5", groups="worst:1", max_loss=0.5
    )
    first = result.summary.exposure[0]
    assert first.group == {"categories[c0]": "yes"}
    assert (first.n_items, first.share_of_items) == (4, 0.1)
    assert first.change.verdict == "changed"
    assert first.change.change < 0
    assert first.change.n_users == result.summary.n_users_reported == 200
    view = build_mitigation_view(result.summary)
    assert any("most of all categories[c0]=yes: " in line for line in view.said)
    assert (
        view.tables[-1].title
        == "What is shown: attention of the first 5 places, by groups of items"
    )
    assert len(view.exposure.rows) == 8
    assert view.exposure.note.startswith("and 2 more in mitigation.json.")


def test_where_nothing_is_re_ranked_no_group_of_items_changes():
    result = mitigate(planted("diversity"), metric="urd@5", strength=0.0, permutations=0)
    assert {one.change.verdict for one in result.summary.exposure} == {"unchanged"}
    assert any("none is shown to get more or less" in line for line in said(result))


def said(result) -> tuple[str, ...]:
    return build_mitigation_view(result.summary).said


def test_attributes_of_items_are_named_or_left_out():
    world = planted("diversity")
    items = world.items.with_columns(year=1990 + world.items["item_id"] % 20)
    result = mitigate(
        world._replace(items=items), metric="urd@5", permutations=0, by_items="year:10"
    )
    assert {*(tuple(one.group) for one in result.summary.exposure)} == {("year",)}
    without = mitigate(world, metric="ndcg@5", permutations=0, items=None, reranker="oracle")
    assert without.summary.exposure == ()
    assert "groups of items" not in " ".join(said(without))
    with pytest.raises(InputError, match="by_items are columns of the items"):
        fairrec.mitigate(
            world.predictions,
            users=world.users,
            by="gender",
            metric="ndcg@5",
            reranker="oracle",
            by_items="year",
        )
