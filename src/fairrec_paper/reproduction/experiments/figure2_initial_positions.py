"""Figure 2: particles drawn uniformly against particles drawn as the users are."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl

from fairrec.core.arrays import AnyArray
from fairrec.report.figures.still import still
from fairrec_paper.figures.initial_positions import initial_positions
from fairrec_paper.reproduction import layout
from fairrec_paper.reproduction.data_source import TITLES, DataSource
from fairrec_paper.reproduction.experiment import Experiment, Frames, Setting
from fairrec_paper.reproduction.outcome import Drawing, Outcome
from fairrec_paper.reproduction.trials.particles import (
    WAYS,
    first_positions,
    particle_trial,
    space_of,
)
from fairrec_paper.reproduction.trials.trial import Trial

MOST_SQUARES = 1500
"""A map with more than these cannot be read."""


def plan(setting: Setting) -> list[Trial]:
    """Swarms of both kinds, for every data set and seed."""
    return [
        particle_trial(source, way, seed)
        for source in setting.sources
        for way in WAYS
        for seed in setting.options.seeds
    ]


def outcome(setting: Setting, frames: Frames) -> Outcome:
    """Where particles begin, as maps and as shares."""
    rows = setting.with_titles(
        frames["particles"]
        .group_by("dataset", "way", maintain_order=True)
        .agg(
            pl.col("n_particles", "n_combinations", "n_groups").first(),
            pl.col("on_users", "on_groups", "groups_seen").mean(),
            pl.col("on_groups").std().alias("on_groups_sd"),
        )
    )
    columns: list[layout.Column] = [
        ("data", layout.text("data")),
        ("particles begin", layout.text("way")),
        ("particles", layout.count("n_particles")),
        ("combinations", layout.count("n_combinations")),
        ("with any user", layout.percent("on_users")),
        ("with enough users", layout.percent_spread("on_groups", "on_groups_sd")),
        ("groups seen at once", layout.count("groups_seen")),
        ("of", layout.count("n_groups")),
    ]
    note = (
        "Shares of the particles of one swarm that begin at a combination that some user has, and "
        "at one with at least 0.1% of the users; mean and spread over seeds. No user is scored."
    )
    title = f"Where swarms begin: {setting.title}"
    table = layout.table("particles", title, rows, columns, note, 2)
    drawings = tuple(_drawing(source) for source in setting.sources)
    return Outcome((table,), drawings)


def _drawing(source: DataSource) -> Drawing:
    """The two attributes with most squares that can still be read."""
    space, values = space_of(source)
    names = source.bundle.manifest.attributes
    pairs = sorted(
        combinations(range(len(names)), 2), key=lambda p: len(values[p[0]]) * len(values[p[1]])
    )
    small = [p for p in pairs if len(values[p[0]]) * len(values[p[1]]) <= MOST_SQUARES]
    pair = (small or pairs[:1])[-1]
    positions = {way: first_positions(space, way, seed=0) for way in WAYS}
    counts = [_counts(positions[way], pair, values).with_columns(way=pl.lit(way)) for way in WAYS]
    users = _counts(space.cells.codes[:, space.cells.of_user].T, pair, values).rename(
        {"particles": "users"}
    )
    chart = initial_positions(users, pl.concat(counts), (names[pair[0]], names[pair[1]]))
    title = f"Where {len(positions['uniform']):,} particles begin: {source.title}"
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
