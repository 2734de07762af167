"""Users, attributes and values as an audit has them once its tables are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairrec.core.arrays import AnyArray, BoolArray, FloatArray
from fairrec.core.audit_options import AuditOptions, Engine
from fairrec.groups.grouping import Grouping
from fairrec.inputs.users import Attribute
from fairrec.metrics import Metric, MetricAtK, parse_metric
from fairrec.metrics.measured import Measured
from fairrec.search.evidence import Evidence
from fairrec.search.loop import search
from fairrec.search.options import Search
from fairrec.search.searcher import hyper_parameters
from fairrec.statistics.analysis import Analysis, analyse
from fairrec.statistics.moments import group_moments
from fairrec.statistics.strata import Strata

PERMUTATIONS = 300
"""Fewer than an audit has: p-values are exact with any number of them, and power hardly falls."""

HIT = parse_metric("hit@5")
VALUE = MetricAtK(
    Metric(
        name="value",
        compute=lambda lists: None,
        higher_is_better=True,
        needs=frozenset(),
        definition="A number without bounds.",
        has_cutoff=False,
    ),
    None,
)


@dataclass(frozen=True, slots=True)
class World:
    """What was measured of users with these attributes.

    Parameters
    ----------
    codes : (n_users,) each, one for an attribute
    values : (n_metrics, n_users)
    expected : (n_metrics, n_users), the mean of what each user's value was drawn from; None where
        it is the same for all
    """

    codes: Sequence[AnyArray]
    values: FloatArray
    metrics: tuple[MetricAtK, ...] = (VALUE,)
    expected: FloatArray | None = None

    @property
    def n_users(self) -> int:
        return int(self.values.shape[1])


Draw = Callable[[np.random.Generator], World]


def random_codes(
    rng: np.random.Generator, n_users: int, *n_values: int, skew: float = 0.0
) -> list[AnyArray]:
    """Attributes with so many values each, independent of all else.

    Parameters
    ----------
    skew : how much rarer later values are; 0 where all are equally frequent
    """
    columns = []
    for n in n_values:
        weights = 1 / np.arange(1, n + 1) ** skew
        columns.append(rng.choice(n, n_users, p=weights / weights.sum()))
    return columns


def one_group(n_users: int, n_group: int) -> BoolArray:
    """(n_users,), the members of a group of exactly this size."""
    return np.arange(n_users) < n_group


def audited(
    world: World, how: Search | None = None, strata: Strata | None = None, **options: Any
) -> Analysis:
    """The analysis of a world, by the stages of an audit, of everyone or of whom a search scores.

    Parameters
    ----------
    strata : covariates that are given
    options : of the audit
    """
    chosen = AuditOptions(**{"permutations": PERMUTATIONS, "engine": Engine(threads=1), **options})
    attributes = [
        Attribute(chr(ord("a") + at), np.asarray(column, dtype=np.int32), tuple(range(n)))
        for at, column in enumerate(world.codes)
        for n in [int(column.max()) + 1]
    ]
    grouping = Grouping.of(attributes, chosen)
    everyone = np.ones(world.n_users, dtype=bool)
    measured = (
        Measured(world.metrics, world.values, everyone, everyone)
        if how is None
        else _searched(world, grouping, how, chosen)
    )
    return analyse(measured, grouping, chosen, strata=strata)


def _searched(world: World, grouping: Grouping, how: Search, options: AuditOptions) -> Measured:
    """The values of the users that a searcher asks for."""
    evidence = Evidence(
        grouping, lambda users: world.values[:, users], len(world.values), options.seed
    )
    search(
        how.name,
        evidence,
        hyper_parameters(how.name, how.hyper),
        seed=options.seed,
        alpha=options.alpha,
        budget=how.make_budget(grouping),
        n_reference=how.n_reference(grouping),
    )
    return Measured(
        world.metrics, evidence.values_per_user, evidence.is_scored, evidence.is_reference
    )


def true_differences(world: World, analysis: Analysis) -> FloatArray:
    """(n_metrics, n_groups), expected mean of the group minus that of all others."""
    if world.expected is None:
        return np.zeros_like(analysis.moments.total)
    strata = analysis.moments.strata if analysis.is_adjusted else None
    return group_moments(world.expected, analysis.grouping, strata=strata).difference


def outcome_position(analysis: Analysis, *codes: int) -> int:
    """Where the group with these codes stands in the lattice, -1 for an attribute left open."""
    is_it = (analysis.grouping.lattice.codes == np.array(codes)).all(axis=1)
    (position,) = np.flatnonzero(is_it)
    return int(position)
