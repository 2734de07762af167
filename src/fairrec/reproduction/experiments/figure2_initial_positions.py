"""Figure 2: particles dealt uniformly against particles dealt as the users are."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from fairrec.core.arrays import AnyArray
from fairrec.core.options import AuditOptions, Progress
from fairrec.groups.grouping import Grouping
from fairrec.inputs.tables import Table as TableFile
from fairrec.inputs.users import read_users
from fairrec.report.figures.initial_positions import WAYS, initial_positions
from fairrec.report.figures.still import still
from fairrec.reproduction import layout
from fairrec.reproduction.cells import Cell, Row
from fairrec.reproduction.chance import MIN_SUPPORT
from fairrec.reproduction.data import TITLES, Source
from fairrec.reproduction.experiment import Drawing, Experiment, Frames, Outcome, Setting, Table
from fairrec.search.searchers.dpso import DPSOParameters, observed_positions
from fairrec.search.searchers.pso import uniform_positions

CODE = 1
MOST_SQUARES = 1500
"""A map with more than these cannot be read."""
DEAL = dict(zip(WAYS, (uniform_positions, observed_positions), strict=True))


def plan(setting: Setting) -> list[Cell]:
    """Swarms of both kinds, for every data set and seed."""
    return [
        _cell(source, way, seed)
        for source in setting.sources
        for way in WAYS
        for seed in setting.options.seeds
    ]


def _cell(source: Source, way: str, seed: int) -> Cell:
    def work(told: Progress) -> list[Row]:
        space, _ = space_of(source)
        n = DPSOParameters().n_particles(space)
        positions = DEAL[way](space, n, np.random.default_rng(seed))
        groups = space.groups_at(positions.tolist())
        occupied = set(map(tuple, space.cells.codes.T.tolist()))
        return [
            {
                "n_particles": n,
                "n_combinations": space.n_combinations,
                "n_groups": len(space.full),
                "on_users": float(np.mean([tuple(p) in occupied for p in positions.tolist()])),
                "on_groups": float((groups >= 0).mean()),
                "groups_seen": len(set(groups[groups >= 0].tolist())),
            }
        ]

    def about(told: Progress) -> dict[str, Any]:
        return {
            "code": CODE,
            "data": source.bundle.manifest.sha256,
            "way": way,
            "seed": seed,
        }

    labels = {"dataset": source.name, "way": way, "seed": seed}
    return Cell("particles", f"{source.name}: particles {way}", about, work, labels)


def space_of(source: Source) -> tuple[Grouping, list[list[str]]]:
    """The combinations of a bundle's users, and the values of each attribute as text."""
    users = source.bundle.users
    table = read_users(TableFile(users, "users", None), list(source.bundle.manifest.attributes))
    attributes = table.attributes(np.arange(users.height))
    values = [[str(value) for value in attribute.values] for attribute in attributes]
    options = AuditOptions(depth="full", min_support=MIN_SUPPORT)
    return Grouping.of(attributes, options), values


def outcome(setting: Setting, frames: Frames) -> Outcome:
    """Where particles begin, as maps and as shares."""
    rows = (
        frames["particles"]
        .group_by("dataset", "way", maintain_order=True)
        .agg(
            pl.col("n_particles", "n_combinations", "n_groups").first(),
            pl.col("on_users", "on_groups", "groups_seen").mean(),
            pl.col("on_groups").std().alias("on_groups_sd"),
        )
        .with_columns(data=pl.col("dataset").map_elements(setting.title_of, pl.String))
    )
    columns: list[layout.Column] = [
        ("data", layout.text("data")),
        ("particles begin", layout.text("way")),
        ("particles", layout.whole("n_particles")),
        ("combinations", layout.whole("n_combinations")),
        ("with any user", layout.percent("on_users")),
        ("with enough users", layout.percent_spread("on_groups", "on_groups_sd")),
        ("groups seen at once", layout.whole("groups_seen")),
        ("of", layout.whole("n_groups")),
    ]
    note = (
        "Shares of the particles of one swarm that begin at a combination that some user has, and "
        "at one with at least 0.1% of the users; mean and spread over seeds. No user is scored."
    )
    title = f"Where swarms begin: {setting.title}"
    table = Table("particles", rows, layout.lay_out(title, rows, columns, note, 2))
    drawings = tuple(_drawing(source) for source in setting.sources)
    return Outcome((table,), drawings)


def _drawing(source: Source) -> Drawing:
    """The two attributes with most squares that can still be read."""
    space, values = space_of(source)
    names = source.bundle.manifest.attributes
    pairs = sorted(
        combinations(range(len(names)), 2), key=lambda p: len(values[p[0]]) * len(values[p[1]])
    )
    small = [p for p in pairs if len(values[p[0]]) * len(values[p[1]]) <= MOST_SQUARES]
    pair = (small or pairs[:1])[-1]
    n = DPSOParameters().n_particles(space)
    counts = [
        _counts(DEAL[way](space, n, np.random.default_rng(0)), pair, values).with_columns(
            way=pl.lit(way)
        )
        for way in WAYS
    ]
    users = _counts(space.cells.codes[:, space.cells.of_user].T, pair, values).rename(
        {"particles": "users"}
    )
    chart = initial_positions(users, pl.concat(counts), (names[pair[0]], names[pair[1]]))
    title = f"Where {n:,} particles begin: {source.title}"
    return Drawing(f"particles-{source.name}", title, still(chart, title))


def _counts(positions: AnyArray, pair: tuple[int, int], values: list[list[str]]) -> pl.DataFrame:
    """`first, second, particles`, one row for every two values, also those nobody has."""
    first, second = (values[at] for at in pair)
    counted = np.zeros((len(first), len(second)), dtype=np.int64)
    np.add.at(counted, (positions[:, pair[0]], positions[:, pair[1]]), 1)
    return pl.DataFrame(
        {
            "first": np.repeat(first, len(second)),
            "second": np.tile(second, len(first)),
            "particles": counted.ravel(),
        }
    )


EXPERIMENT = Experiment(
    name="figure-initialise",
    label="Figure 2",
    title="Uniform against distribution-based particles",
    datasets=tuple(TITLES),
    plan=plan,
    outcome=outcome,
    needs_models=False,
)
