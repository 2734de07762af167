"""All groups in order of their change: who is harmed, and what could have been seen."""

from __future__ import annotations

import re

from fairrec.mitigation.charts import HARMED_NAMED, HEIGHT, strips
from fairrec.mitigation.schema import HarmedGroup
from tests.mitigation.small_summary import (
    COST,
    TARGET,
    change,
    counts,
    ordered,
    summary_of,
)

THREE = ordered((-0.3, "worse"), (-0.1, "not significant"), (0.2, "improved"))
OLD = HarmedGroup(metric="urd@5", group={"age": "65+"}, change=change(0.5, 0.2, "worse"))


def with_changes(seen=THREE, harmed=(), cost=COST, **changes):
    target = TARGET.model_copy(update={"ordered": seen, **changes})
    return summary_of(effects={"urd@5": target, "ndcg@5": cost}, harmed=harmed)


def ends(path: str) -> list[tuple[int, float, float]]:
    """Of each bar its place, and the heights it goes from and to."""
    found = re.findall(r"M(\d+)\.1 ([\d.]+)h.8V([\d.]+)h-.8z", path)
    return [(int(place), float(start), float(end)) for place, start, end in found]


def test_bars_are_in_order_and_as_long_as_the_changes():
    (strip,) = strips(with_changes()).rows
    bars = {part.tone: ends(part.path) for part in strip.bars}
    # 0.2 up and 0.3 down share the height
    zero = HEIGHT * 0.2 / 0.5
    assert strip.zero_at == zero and strip.width == 3
    assert bars == {
        "worse": [(0, zero, HEIGHT)],
        "neutral": [(1, zero, HEIGHT * 0.3 / 0.5)],
        "better": [(2, zero, 0.0)],
    }
    assert strip.seen_at == HEIGHT * 0.3 / 0.5
    assert (strip.first, strip.last) == ("−0.300", "+0.200")


def test_up_is_better_whatever_the_direction():
    falls = ordered((0.3, "worse"), (-0.2, "improved"))
    (strip,) = strips(with_changes(falls, higher_is_better=False)).rows
    bars = {part.tone: ends(part.path) for part in strip.bars}
    ((_, zero, worse),) = bars["worse"]
    ((_, _, better),) = bars["better"]
    assert better < zero < worse
    assert (strip.first, strip.last) == ("+0.300", "−0.200")


def test_without_a_better_end_nothing_is_painted_nor_could_be_a_loss():
    moved = ordered((-0.3, "changed"), (0.2, "changed"))
    (strip,) = strips(with_changes(moved, higher_is_better=None, groups=counts(changed=2))).rows
    assert {part.tone for part in strip.bars} == {"neutral"}
    assert strip.seen_at is None
    assert (
        "Of 2 groups in which somebody changed, 2 changed" in strip.words
        and "loss" not in strip.words
    )


def test_groups_shown_to_be_harmed_are_named_with_their_change():
    found = strips(with_changes(harmed=(OLD,), groups=counts(worse=1, improved=1)))
    assert found.is_harmed and found.headline == "Shown to be harmed: 1 group in urd@5"
    assert found.rows[0].harmed == (("age=65+", "−0.300"),)
    assert "1 shown to be worse, 1 better" in found.rows[0].words
    many = strips(with_changes(harmed=(OLD,), groups=counts(worse=4)))
    assert "Named here: 1" in many.rows[0].words
    ten = strips(with_changes(harmed=(OLD,) * 10, groups=counts(worse=10)))
    assert len(ten.rows[0].harmed) == HARMED_NAMED
    assert f"Named here: {HARMED_NAMED}" in ten.rows[0].words


def test_a_named_group_is_drawn_where_only_some_groups_are_kept():
    some = ordered((-0.4, "not significant"), (0.2, "improved"), n_groups=1000)
    (strip,) = strips(with_changes(some, harmed=(OLD,), groups=counts(worse=1))).rows
    bars = {part.tone: ends(part.path) for part in strip.bars}
    assert [place for place, *_ in bars["worse"]] == [1] and strip.width == 3
    (same,) = strips(with_changes(harmed=(OLD,), groups=counts(worse=1))).rows
    assert same.width == 3


def test_where_nobody_is_harmed_it_is_said_what_could_have_been_seen():
    found = strips(with_changes())
    assert not found.is_harmed and found.headline == "No single group shown to be harmed"
    assert "12 comparisons" in found.about
    # accuracy of the chosen groups together fell
    assert "ndcg@5" in found.about
    assert "a loss of 0.100" in found.rows[0].words.lower()
    blind = ordered(*[(-0.1, "not significant")] * 3, n_blind=2)
    found = strips(with_changes(blind))
    assert "too few users changed to tell" in found.headline
    assert "In 2 of them too few" in found.rows[0].words
    assert "half of the other 1" in found.rows[0].words
    nothing = ordered((-0.1, "not significant"), n_blind=1, least_shown=None)
    (strip,) = strips(with_changes(nothing)).rows
    assert strip.seen_at is None and "In each of them too few users" in strip.words


def test_metrics_in_which_nobody_changed_have_no_strip():
    assert strips(with_changes(ordered())).rows == ()
    # files of before changes were kept
    assert strips(summary_of()).rows == ()
