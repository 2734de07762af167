"""What a change is called, and whom a re-ranking harmed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from pytest import approx

from fairrec.core.audit_options import AuditOptions
from fairrec.groups.grouping import Grouping
from fairrec.inputs.users import Attribute
from fairrec.mitigation.effect import (
    change_among,
    distance_change,
    gap_to_others,
    harmed_groups,
    ordered_changes,
    outcome_of,
)
from fairrec.mitigation.schema import GapToOthers
from fairrec.mitigation.tables import RESERVED, change_table
from fairrec.result.metric_schema import GapChange
from fairrec.statistics.paired import group_changes
from tests.mitigation.small_summary import chance, to_others

NAN = np.nan


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
    grouping = Grouping.of((attribute,), AuditOptions(depth=1, min_support=1, threads=1))
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
    assert {*table.columns} - {"who"} == {*RESERVED}


def test_some_of_the_users_change_as_the_table_of_groups_has_it():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3, 300).astype(np.int32)
    grouping = Grouping.of(
        (Attribute("who", codes, ("a", "b", "c")),), AuditOptions(depth=1, threads=1)
    )
    before, after = rng.random((2, 300))
    after[codes == 1] = before[codes == 1] + 0.1
    (found,) = group_changes({"ndcg@5": True}, before[None], after[None], grouping, 0.05).changes
    for code in range(3):
        change = change_among(before, after, codes == code, True, 0.05)
        assert change.p_value == pytest.approx(found.p_value[code])
        assert change.interval == pytest.approx((found.low[code], found.high[code]))
        assert change.n_users == (codes == code).sum()


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
    return outcome_of(verdict, to_others(before, now, p_after=p_now), gap, 0.05)


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
    assert outcome_of("improved", nobody, untested, 0.05) == "improved"


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
