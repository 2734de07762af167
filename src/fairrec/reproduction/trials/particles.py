"""Where the particles of a swarm begin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fairrec.core.arrays import IntArray
from fairrec.core.progress import Progress
from fairrec.groups.grouping import Grouping
from fairrec.inputs.tables import Table
from fairrec.inputs.users import read_users
from fairrec.reproduction.data_source import DataSource
from fairrec.reproduction.space import full_combinations
from fairrec.reproduction.trials.trial import Row, Trial
from fairrec.search.searchers.swarms import DPSOParameters, observed_positions, uniform_positions

WAYS: dict[str, Callable[[Grouping, int, np.random.Generator], IntArray]] = {
    "uniform": uniform_positions,
    "by distribution": observed_positions,
}
"""How particles are drawn: by plain swarms, and by the paper's."""


def particle_trial(source: DataSource, way: str, seed: int) -> Trial:
    """How many particles begin where there are users, or enough of them: one row."""

    def work(progress: Progress) -> list[Row]:
        space, _ = space_of(source)
        positions = first_positions(space, way, seed)
        groups = space.groups_at(positions.tolist())
        occupied = set(map(tuple, space.cells.codes.T.tolist()))
        return [
            {
                "n_particles": len(positions),
                "n_combinations": space.n_combinations,
                "n_groups": len(space.full),
                "on_users": float(np.mean([tuple(p) in occupied for p in positions.tolist()])),
                "on_groups": float((groups >= 0).mean()),
                "groups_seen": len(set(groups[groups >= 0].tolist())),
            }
        ]

    def about(progress: Progress) -> dict[str, Any]:
        return {"data": source.bundle.manifest.sha256, "way": way, "seed": seed}

    labels = {"dataset": source.name, "way": way, "seed": seed}
    return Trial("particles", f"{source.name}: particles {way}", about, work, labels)


def first_positions(space: Grouping, way: str, seed: int) -> IntArray:
    """(n_particles, n_attributes), as many particles as the paper's swarms have."""
    return WAYS[way](space, DPSOParameters().n_particles(space), np.random.default_rng(seed))


def space_of(source: DataSource) -> tuple[Grouping, list[list[str]]]:
    """The combinations of a bundle's users, and the values of each attribute as text."""
    users = source.bundle.users
    table = read_users(Table(users, "users", None), list(source.bundle.manifest.attributes))
    attributes = table.attributes(np.arange(users.height))
    values = [[str(value) for value in attribute.values] for attribute in attributes]
    return full_combinations(attributes), values
