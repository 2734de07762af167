"""Re-rankings that change users by nothing on average, or by something: what a mitigation says."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from benchmarks.statistics.rates import Claim
from benchmarks.statistics.said import is_shown_worse, named_groups
from benchmarks.statistics.study import Outcome, Study, happened
from benchmarks.statistics.world import World, audited, random_codes
from fairrec import Engine
from fairrec.core.arrays import AnyArray, BoolArray, FloatArray
from fairrec.core.audit_options import AuditOptions
from fairrec.groups.group import group_of_users
from fairrec.groups.grouping import Grouping
from fairrec.inputs.users import Attribute
from fairrec.metrics import parse_metric
from fairrec.mitigation.effect import BeforeAfter, judge_outcome
from fairrec.mitigation.options import MitigationOptions
from fairrec.mitigation.tuning import AtStrength, make_aim, measure_level, tune_strength
from fairrec.result.metric_result import estimate_change
from fairrec.statistics.paired import GroupChanges, group_changes

ALPHA, SKEWED = 0.05, 0.08
ANY = "a group without a true change is called improved or worse"
COVERED = "intervals of groups of 30 to 1,000 users that hold the true change"
FOUND = "the group that changed is called so"
SET = "all users together are called improved or worse"
AHEAD = "the groups that were found are significantly ahead of all others in the end"
BEHIND = "they are still significantly behind"
IMPROVED = "the change is called an improvement"
AWAY = 5
"""The group that is truly behind the others."""
NEARER = "the chosen groups are called nearer to the others"
SIZES = (30, 1000)


@dataclass(frozen=True, slots=True)
class Shape:
    """A distribution of changes with mean 0 and standard deviation 1.

    Parameters
    ----------
    high : largest rate of wrong verdicts that is claimed
    """

    draw: Callable[[np.random.Generator, int], AnyArray]
    high: float = SKEWED

    def __call__(self, rng: np.random.Generator, n: int) -> FloatArray:
        return np.asarray(self.draw(rng, n), dtype=np.float64)


SHAPES = {
    "95% gain, 5% lose": Shape(lambda rng, n: (0.05 - (rng.random(n) < 0.05)) / math.sqrt(0.0475)),
    "exponential": Shape(lambda rng, n: rng.exponential(size=n) - 1),
    "lognormal": Shape(
        lambda rng, n: (rng.lognormal(size=n) - math.exp(0.5)) / math.sqrt((math.e - 1) * math.e)
    ),
    "normal": Shape(lambda rng, n: rng.normal(size=n), ALPHA),
    "few levels": Shape(lambda rng, n: rng.choice([-2, -1, 1, 2], n) / math.sqrt(2.5), ALPHA),
}

Changed = Callable[[np.random.Generator, Grouping], BoolArray]
"""Who is changed, of users with these attributes."""


def everyone(rng: np.random.Generator, grouping: Grouping) -> BoolArray:
    return np.ones(grouping.n_users, dtype=bool)


def a_fifth(rng: np.random.Generator, grouping: Grouping) -> BoolArray:
    return rng.random(grouping.n_users) < 0.2


def whole_cells(rng: np.random.Generator, grouping: Grouping) -> BoolArray:
    """A fifth of users at most: all who have the same values of all attributes, or none of them."""
    cells = grouping.cells
    order = rng.permutation(len(cells))
    is_chosen = np.zeros(len(cells), dtype=bool)
    is_chosen[order] = np.cumsum(cells.n_users[order]) <= 0.2 * grouping.n_users
    return is_chosen[cells.of_user]


WHO: dict[str, Changed] = {
    "all users": everyone,
    "20% of users": a_fifth,
    "20% in whole intersections": whole_cells,
}


def build_grouping(codes: list[AnyArray]) -> Grouping:
    """Groups as an audit has them unless told otherwise."""
    attributes = [
        Attribute(chr(ord("a") + at), column.astype(np.int32), tuple(range(int(column.max()) + 1)))
        for at, column in enumerate(codes)
    ]
    return Grouping.of(attributes, AuditOptions(engine=Engine(threads=1)))


def random_grouping(rng: np.random.Generator, n_users: int | None = None) -> Grouping:
    """Three attributes of 2, 4 and 20 values, small groups and large ones."""
    n_users = int(rng.choice([1000, 2000, 5000])) if n_users is None else n_users
    return build_grouping(random_codes(rng, n_users, 2, 4, 20, skew=1.0))


def judged(grouping: Grouping, change: FloatArray) -> GroupChanges:
    """Every group, where each user changed by so much."""
    before = np.zeros((1, grouping.n_users))
    return group_changes({"value": True}, before, change[None], grouping, ALPHA)


def is_shown(changes: GroupChanges) -> BoolArray:
    """(n_groups,), groups that are called improved or worse."""
    return np.asarray(changes.p_adjusted[0] <= ALPHA)


def nothing_on_average(seed: int, shape: Shape, who: Changed) -> dict[str, Outcome]:
    """Whether any group is called so, and how many intervals hold a change of 0."""
    rng = np.random.default_rng(seed)
    grouping = random_grouping(rng)
    is_changed = who(rng, grouping)
    changes = judged(grouping, np.where(is_changed, shape(rng, len(is_changed)), 0.0))
    (found,) = changes.changes
    is_counted = (found.n >= SIZES[0]) & (found.n <= SIZES[1]) & (found.n_changed > 0)
    holds = ~((found.low > 0) | (found.high < 0))
    return {
        ANY: happened(bool(is_shown(changes).any())),
        COVERED: (float(holds[is_counted].sum()), float(is_counted.sum())),
    }


def wider_in_rare_values(seed: int, shape: Shape, times: float) -> dict[str, Outcome]:
    """The same where users with a rare value of an attribute change by so many times as much."""
    rng = np.random.default_rng(seed)
    grouping = random_grouping(rng)
    is_rare = grouping.attributes[2].codes >= 10
    change = shape(rng, grouping.n_users) * np.where(is_rare, times, 1.0)
    return {ANY: happened(bool(is_shown(judged(grouping, change)).any()))}


def some_gain(seed: int, shape: Shape) -> dict[str, Outcome]:
    """Whether a group is called so that shares no user with a fifth of intersections that gain."""
    rng = np.random.default_rng(seed)
    grouping = random_grouping(rng)
    is_moved = whole_cells(rng, grouping)
    change = shape(rng, grouping.n_users) + np.where(is_moved, 1.0, 0.0)
    changes = judged(grouping, change)
    is_still = grouping.lattice.sums(grouping.cells.sums(is_moved)[None])[0] == 0
    return {ANY: happened(bool((is_shown(changes) & is_still).any()))}


def planted_change(
    seed: int, shape: Shape, who: Changed, size: int, by: float
) -> dict[str, Outcome]:
    """Whether a group of about so many changed users is found; gains and losses take turns."""
    rng = np.random.default_rng(seed)
    grouping = random_grouping(rng, 5000)
    is_changed = who(rng, grouping)
    n_changed = grouping.lattice.sums(grouping.cells.sums(is_changed)[None])[0]
    group = int(np.abs(n_changed - size).argmin())
    is_in = np.isin(grouping.cells.of_user, grouping.cells_in(group))
    shift = (by if seed % 2 else -by) * is_in
    change = np.where(is_changed, shape(rng, len(is_changed)) + shift, 0.0)
    return {FOUND: happened(bool(is_shown(judged(grouping, change))[group]))}


def one_set(seed: int, shape: Shape, n_changed: int, n_users: int) -> dict[str, Outcome]:
    """Whether a set of users by itself is called improved or worse."""
    rng = np.random.default_rng(seed)
    after = np.zeros(n_users)
    after[:n_changed] = shape(rng, n_changed)
    change = estimate_change(np.zeros(n_users), after, True, ALPHA)
    return {SET: happened(change.verdict in ("improved", "worse"))}


def distances(
    seed: int, n_groups: int, size: int, away: float, left: float, moved: float
) -> dict[str, Outcome]:
    """Whether chosen groups are called nearer to the others in a metric without a better end.

    Parameters
    ----------
    away : how far the groups truly are from the others, above or below, in standard deviations
    left : share of a value that the re-ranking leaves of it
    moved : by how much it moves values beyond that, away from the others where positive
    """
    rng = np.random.default_rng(seed)
    group = np.append(np.repeat(np.arange(n_groups), size), np.full(2000, n_groups))
    is_chosen = group < n_groups
    side = np.append(rng.choice([-1.0, 1.0], n_groups), 0.0)[group]
    chosen_by, before = away * side + rng.normal(size=(2, len(group)))
    after = np.where(is_chosen, left * before + moved * side, before)
    target = parse_metric("urp@5")
    position = np.where(is_chosen, group, -1)
    aim = make_aim(target, chosen_by, position)
    seen = BeforeAfter(
        target,
        aim.on_held_out(before, position, aim.sides(chosen_by, position, n_groups)),
        {target.name: before},
        {target.name: after},
        position,
        ALPHA,
    )
    return {NEARER: happened(seen.chosen_change(target).verdict == "improved")}


def tuned(seed: int, away: float, gain: float, shape: Shape) -> dict[str, Outcome]:
    """Groups found on one half of the users and re-ranked: where that leaves them on the other.

    Parameters
    ----------
    away : how far below all others one of 20 groups truly is, in standard errors on one half
    gain : by how much users gain on average at a strength of 1, in standard deviations
    """
    rng = np.random.default_rng(seed)
    (group,) = random_codes(rng, 4000, 20, skew=0.7)
    first, last = np.split(np.arange(4000), 2)
    n = int((group[first] == AWAY).sum())
    values = shape(rng, 4000) - away * math.sqrt(1 / n + 1 / (2000 - n)) * (group == AWAY)
    moves = gain + 0.5 * rng.normal(size=4000)
    analysis = audited(World([group[first]], values[None, first]), depth=1)
    named = named_groups(analysis)
    found = [analysis.grouping.group(one) for one in named if is_shown_worse(analysis, one)]
    attribute = replace(analysis.grouping.attributes[0], codes=group.astype(np.int32))
    position = group_of_users(found, [attribute])
    target = parse_metric("urd@5")
    aim = make_aim(target, values[first], position[first])

    def at(strength: float) -> FloatArray:
        return np.asarray(np.where(position >= 0, values + strength * moves, values))

    def level_at(strength: float) -> AtStrength:
        # no accuracy is lost by it
        return measure_level(at(strength)[first], np.ones(2000), aim, position[first])

    strength, _ = tune_strength(MitigationOptions("urd@5"), aim, level_at)
    sides = np.ones(len(found))
    seen = BeforeAfter(
        target,
        aim.on_held_out(values[last], position[last], sides),
        {target.name: values[last]},
        {target.name: at(strength)[last]},
        position[last],
        ALPHA,
    )
    gap = seen.gap_to_others()
    outcome = judge_outcome(seen.chosen_change(target).verdict, gap, ALPHA)
    is_apart = gap.p_after is not None and gap.p_after <= ALPHA
    counted = 1.0 if found else 0.0
    return {
        AHEAD: (float(is_apart and (gap.after or 0) < 0), counted),
        BEHIND: (float(is_apart and (gap.after or 0) > 0), counted),
        IMPROVED: (float(outcome == "improved"), counted),
    }


def _null(name: str, who: str, before: tuple[str, str]) -> Study:
    shape = SHAPES[name]
    return Study(
        f"changes of 0 on average, {name}, {who} changed",
        partial(nothing_on_average, shape=shape, who=WHO[who]),
        (Claim(ANY, None, shape.high, before[0]), Claim(COVERED, 0.93, None, before[1])),
    )


def _planted(name: str, who: str, before: float, size: int = 200, by: float = 0.3) -> Study:
    # power that came with a false verdict in most worlds is none to be kept
    low = before - 0.05 if SHAPES[name].high == ALPHA else None
    return Study(
        f"a change of {by:g} sd in {size} changed users, {name}, {who} changed",
        partial(planted_change, shape=SHAPES[name], who=WHO[who], size=size, by=by),
        (Claim(FOUND, low, None, f"{before:.2f}"),),
    )


def _distance(world: str, claim: Claim, n_groups: int, size: int, *numbers: float) -> Study:
    away, left, moved = numbers
    return Study(
        f"{world}, {n_groups} groups of {size}",
        partial(distances, n_groups=n_groups, size=size, away=away, left=left, moved=moved),
        (claim,),
    )


NULL_BEFORE = {
    "95% gain, 5% lose": (("1.00", ".89"), ("1.00", ".61"), (".99", ".75")),
    "exponential": ((".43", ".94"), (".07", ".93"), (".13", ".93")),
    "lognormal": ((".82", ".91"), (".24", ".88"), (".31", ".89")),
    "normal": ((".04", ".95"), (".00", ".96"), (".02", ".96")),
    "few levels": ((".08", ".95"), (".01", ".95"), (".03", ".95")),
}
"""With a group's own spread alone: false verdicts and coverage, for each kind of who is changed."""
POWER_BEFORE = {
    "95% gain, 5% lose": (0.75, 0.64, 0.84),
    "exponential": (0.67, 0.59, 0.72),
    "lognormal": (0.75, 0.73, 0.80),
    "normal": (0.65, 0.65, 0.74),
    "few levels": (0.71, 0.58, 0.77),
}
WIDER_BEFORE = ("1.00", ".43", ".84", ".05", ".05")
SET_BEFORE = {
    "95% gain, 5% lose": (".04", ".07", ".07"),
    "exponential": (".08", ".05", ".04"),
    "lognormal": (".09", ".07", ".06"),
    "normal": (".06", ".04", ".05"),
    "few levels": (".05", ".04", ".04"),
}
"""By Student's t."""

LEVEL = (
    Claim(AHEAD, None, ALPHA, "1.00"),
    Claim(BEHIND, None, 0.3, ".00"),
    Claim(IMPROVED, 0.9, None, "1.00"),
)
"""Before, by the strength with the best mean."""

STUDIES: tuple[Study, ...] = (
    *(
        _null(name, who, before)
        for name, rates in NULL_BEFORE.items()
        for who, before in zip(WHO, rates, strict=True)
    ),
    *(
        Study(
            f"changes of 0 on average, {name}, 3 times as large for rare values",
            partial(wider_in_rare_values, shape=shape, times=3.0),
            (Claim(ANY, None, SKEWED, before),),
        )
        for (name, shape), before in zip(SHAPES.items(), WIDER_BEFORE, strict=True)
    ),
    *(
        Study(
            f"a fifth of intersections gain 1 sd, {name}",
            partial(some_gain, shape=SHAPES[name]),
            (Claim(ANY, None, SHAPES[name].high, before),),
        )
        for name, before in (("95% gain, 5% lose", "1.00"), ("lognormal", ".68"), ("normal", ".02"))
    ),
    *(
        _planted(name, who, before)
        for name, rates in POWER_BEFORE.items()
        for who, before in zip(WHO, rates, strict=True)
    ),
    *(
        _planted("normal", who, before, size=30, by=1.0)
        for who, before in zip(WHO, (0.88, 0.70, 0.86), strict=True)
    ),
    *(
        Study(
            f"{n:,} of 5,000 users changed, by 0 on average, {name}",
            partial(one_set, shape=SHAPES[name], n_changed=n, n_users=5000),
            (Claim(SET, None, SHAPES[name].high, before),),
        )
        for name, rates in SET_BEFORE.items()
        for n, before in zip((60, 200, 1000), rates, strict=True)
    ),
    _distance("no distance, half the spread", Claim(NEARER, None, ALPHA, ".34"), 5, 60, 0, 0.5, 0),
    _distance("no distance, half the spread", Claim(NEARER, None, ALPHA, ".88"), 15, 16, 0, 0.5, 0),
    _distance(
        "no distance, hardly any spread", Claim(NEARER, None, ALPHA, ".93"), 15, 16, 0, 0.1, 0
    ),
    _distance("no distance, moved away", Claim(NEARER, None, ALPHA, ".00"), 15, 16, 0, 1, -0.3),
    _distance(
        "0.3 sd away, moved as far beyond", Claim(NEARER, None, ALPHA, ".02"), 5, 60, 0.3, 1, -0.6
    ),
    _distance(
        "0.3 sd away, moved half the way", Claim(NEARER, 0.8, None, ".85"), 5, 60, 0.3, 1, -0.15
    ),
    _distance(
        "0.3 sd away, moved half the way", Claim(NEARER, 0.7, None, ".45"), 15, 16, 0.3, 1, -0.15
    ),
    *(
        Study(
            f"one of 20 groups {away:g} standard errors behind, {name}, {what}",
            partial(tuned, away=away, gain=gain, shape=SHAPES[name]),
            claims,
        )
        for name in ("normal", "exponential")
        for away, gain, what, claims in (
            (3, 2.0, "re-ranked", LEVEL),
            (5, 2.0, "re-ranked", LEVEL),
            (5, 0.0, "re-ranked to no effect", (Claim(IMPROVED, None, ALPHA),)),
        )
    ),
)
