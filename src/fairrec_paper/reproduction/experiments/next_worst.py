"""Next-worst groups: what it helps to re-rank the groups that searches found under a budget."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from fairrec_paper.reproduction import layout
from fairrec_paper.reproduction.experiment import Experiment, Frames, Setting
from fairrec_paper.reproduction.methods import ADAPTIVE, DPSO, EXACT, FAIRAS, RANDOM, for_setting
from fairrec_paper.reproduction.outcome import Outcome
from fairrec_paper.reproduction.trials.mitigation import URP
from fairrec_paper.reproduction.trials.next_worst import next_worst_trial
from fairrec_paper.reproduction.trials.trial import Trial

BUDGET = 0.2
"""Of the users, for each search."""
METRICS = ("mrr@5", "ndcg@5", "urd@5", URP)
EVERYONE = replace(EXACT, title="everyone scored")
METHODS = (EVERYONE, *(replace(one, users=BUDGET) for one in (DPSO, FAIRAS, RANDOM, ADAPTIVE)))
WHAT = ["dataset", "metric", "worst", "method"]


def plan(setting: Setting) -> list[Trial]:
    """Every method with every seed; the exact worst groups do not depend on one."""
    quick = setting.options.quick
    seeds = [*setting.options.seeds][: 1 if quick else None]
    return [
        next_worst_trial(setting.subject(source, model), metric, for_setting(method, setting), seed)
        for source in setting.sources
        for model in setting.options.models[: 1 if quick else None]
        for metric in METRICS[: 1 if quick else None]
        if metric != "urd@5" or source.bundle.has_categories
        for method in METHODS
        for seed in (seeds if method.users else (0,))
    ]


def over_models(rows: pl.DataFrame) -> pl.DataFrame:
    """A row for each data set, metric, number of groups and method: means over models.

    Returns
    -------
    `among_worst` is the share of the so many worst groups that were found, `better_by` the change
    of the groups in the better direction, `better_by_sd` its standard deviation over seeds, of the
    mean over models; `shown` counts the searches after which it is significant
    """
    per_seed = rows.group_by(*WHAT, "seed").agg(pl.col("better_by").mean())
    spread = per_seed.group_by(WHAT).agg(pl.col("better_by").std().alias("better_by_sd"))
    means = rows.group_by(WHAT, maintain_order=True).agg(
        pl.len().alias("searches"),
        pl.col("users", "n_groups", "n_chosen", "among_worst").mean(),
        pl.col("chosen_by", "before", "after", "better_by").mean(),
        (pl.col("p_change") <= 0.05).sum().alias("shown"),
        pl.col("gap_before", "gap_after", "ndcg_before", "ndcg_after").mean(),
    )
    return means.join(spread, on=WHAT, how="left", maintain_order="left")


def outcome(setting: Setting, frames: Frames) -> Outcome:
    """The groups that each method found, and the gap, before and after."""
    rows = over_models(frames["next-worst"])
    columns: list[layout.Column] = [
        ("metric", layout.text("metric")),
        ("worst", layout.count("worst")),
        ("groups of", layout.text("method")),
        ("users scored", layout.count("users")),
        ("among the worst", layout.percent("among_worst", 0)),
        ("where chosen", layout.figure("chosen_by")),
        ("before", layout.figure("before")),
        ("after", layout.figure("after")),
        ("better by", layout.spread("better_by", "better_by_sd")),
        ("p <= 0.05", _shown),
        ("gap before", layout.figure("gap_before")),
        ("gap after", layout.figure("gap_after")),
        ("NDCG of all, after", layout.figure("ndcg_after")),
        ("their users", layout.count("n_chosen")),
    ]
    note = (
        "The lists of the so many worst groups that a method found are re-ranked. Searches, groups "
        "and strength are by the validation targets, the effect is on the test targets, which are "
        f"held out. Searches score at most {BUDGET:.0%} of the users. Means over models and seeds; "
        "the spread is over seeds, of means over models. Among the worst: the share of the so "
        "many worst groups, with everyone scored, that are among those found."
    )
    tables = [
        layout.table(
            f"next-worst-{source.name}",
            f"The worst groups found, mitigated: {source.title}",
            rows.filter(dataset=source.name),
            columns,
            note,
            3,
        )
        for source in setting.sources
    ]
    notes = (
        "The gap is between the two most distant of all groups, which need not be re-ranked ones; "
        f"for {URP} it is of the signed one, as in Table 6.",
    )
    return Outcome(tuple(tables), (), (*notes, *setting.notes))


def _shown(row: layout.ShownRow) -> str:
    return f"{row['shown']} of {row['searches']}"


EXPERIMENT = Experiment(
    name="next-worst",
    label="Next-worst groups",
    title="The worst groups that searches find under a budget, mitigated",
    datasets=("movielens-1m", "blackfriday"),
    plan=plan,
    outcome=outcome,
)
