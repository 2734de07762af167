"""Tables 3 and 7: searches that get the same time, or the same number of users."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl

from fairrec.search.options import paper_seconds
from fairrec_paper.reproduction import layout
from fairrec_paper.reproduction.comparison import (
    SUBJECT,
    compared_gaps,
    mean_accuracy,
    published_gaps,
    published_seconds,
)
from fairrec_paper.reproduction.experiment import Experiment, Frames, Setting, Trial
from fairrec_paper.reproduction.gaps import gap_table
from fairrec_paper.reproduction.layout import Outcome, OutcomeTable
from fairrec_paper.reproduction.methods import (
    ADAPTIVE,
    DPSO,
    EXACT,
    FAIRAS,
    POOLED,
    RANDOM,
    THEMIS,
    THETAS,
    ByDataset,
    Method,
    large_groups,
    method_trials,
)

PAPER_SIZES = {
    "movielens-1m": (6040, 294),
    "lfm360k": (260_000, 53_058),
    "blackfriday": (5889, 8820),
    "amazon-electronics": (175_878, 1000),
}
"""Users and combinations of the paper's data sets."""
IN_TIME = ", fixed time"
IN_COMBINATIONS = ", combinations"


def share_of_work(dataset: str) -> float:
    """The paper's fixed time as a share of the time that its Themis took, mean over models.

    >>> round(share_of_work("movielens-1m"), 3)
    0.238
    """
    seconds = published_seconds("table2").filter(dataset=dataset, method="themis")
    return float(
        np.mean(paper_seconds(*PAPER_SIZES[dataset]) / seconds["published_seconds"].to_numpy())
    )


def within_users(dataset: str) -> list[Method]:
    """Methods with a budget in users: that share of all."""
    thetas = [large_groups(theta) for theta in THETAS[dataset]]
    return [
        replace(method, users=share_of_work(dataset))
        for method in (RANDOM, *thetas, DPSO, FAIRAS, ADAPTIVE)
    ]


def within_combinations(dataset: str) -> list[Method]:
    """Methods with a budget in combinations queried, empty ones too: that share of all.

    That is what the paper's Themis pays, which does not know which combinations have users.
    Methods of ours know, and are left out.
    """
    thetas = [large_groups(theta) for theta in THETAS[dataset]]
    return [
        replace(
            method, title=f"{method.title}{IN_COMBINATIONS}", combinations=share_of_work(dataset)
        )
        for method in (RANDOM, *thetas, DPSO, FAIRAS)
    ]


def within_time(dataset: str) -> list[Method]:
    """Methods with the paper's fixed time for each search."""
    thetas = [large_groups(theta) for theta in THETAS[dataset]]
    return [
        replace(method, title=f"{method.title}{IN_TIME}", fixed_time=True)
        for method in (THEMIS, *thetas, DPSO, FAIRAS, EXACT)
    ]


def _methods(setting: Setting) -> ByDataset:
    return {
        source.name: [
            *within_users(source.name),
            *within_combinations(source.name),
            *within_time(source.name),
        ]
        for source in setting.sources
    }


def plan(setting: Setting) -> list[Trial]:
    """All searches under the three limits, and all null distributions."""
    return method_trials(setting, _methods(setting))


def outcome(setting: Setting, frames: Frames, experiment: str) -> Outcome:
    """Gaps within a share of the users, how often each method leads, and the literal fixed time."""
    tables: list[OutcomeTable] = []
    for source in setting.sources:
        dataset, where = source.name, source.title
        search = frames["search"].filter(dataset=dataset)
        chance = frames["chance"].filter(dataset=dataset)
        methods = within_users(dataset)
        gaps = compared_gaps(
            search.filter(pl.col("method").is_in([method.title for method in methods])),
            chance,
            methods,
            experiment,
        )
        percent = f"{100 * share_of_work(dataset):.0f}%"
        share = f"{percent} of the users"
        tables += [
            gap_table(f"gaps-{dataset}", f"Within {share}: {where}", gaps, chance, methods),
            _leads(f"leads-{dataset}", f"Within {share}: {where}", gaps, methods, experiment),
            _combinations_table(
                f"combinations-{dataset}",
                f"Within {percent} of the combinations: {where}",
                search,
                chance,
            ),
            _time_table(f"time-{dataset}", where, search, chance),
        ]
    notes = (
        f"Within the fixed time of the paper, 0.005 s for each user and each combination, "
        f"{_finished(frames['search'])} searches finished. Its sense, that only a part of the work "
        "can be done, is kept by a budget in users: the same share of all users as the fixed time "
        "was of the time of the paper's Themis, in the mean over models. A budget in combinations "
        "is the same share of all of them, those without users too: who does not know sizes pays "
        "for these as well, as the paper's methods do.",
        "In fixed time the paper's Themis becomes a random search; here it takes groups in random "
        "order. TestSGD takes its groups in the order of their values.",
    )
    return Outcome(tuple(tables), (), notes)


def _leads(
    name: str, title: str, gaps: pl.DataFrame, methods: Sequence[Method], experiment: str
) -> OutcomeTable:
    """How often each of the paper's methods has found the largest gap; ties count for each."""
    theirs = [method.title for method in methods if method.published]
    cases = gaps.filter(pl.col("metric") != POOLED, pl.col("method").is_in(theirs))
    own = _share_of_leads(cases, "method", "gap")
    known = published_gaps(experiment).filter(dataset=gaps["dataset"][0])
    printed = _share_of_leads(known, "method", "published")
    rows = pl.DataFrame(
        [
            {
                "method": method.title,
                "leads": own.get(method.title),
                "published_leads": printed.get(method.published),
                "accuracy": part["accuracy"].mean(),
                "published_accuracy": part["published_accuracy"].mean(),
                "users": part["users"].mean(),
                "share": part["share"].mean(),
            }
            for method in methods
            if (part := gaps.filter(pl.col("method") == method.title)).height
        ]
    )
    columns: list[layout.Column] = [
        ("method", layout.text("method")),
        ("largest gap", layout.percent("leads", 0)),
        ("published", layout.percent("published_leads", 0)),
        ("accuracy", layout.percent("accuracy")),
        ("published", layout.percent("published_accuracy")),
        ("users scored", layout.count("users")),
        ("of all", layout.percent("share", 0)),
    ]
    note = (
        "In how many of the cases (models and metrics) a method finds the largest gap of all the "
        "paper's methods, and how much of the exact gap it finds in the mean."
    )
    return layout.table(name, f"Who leads. {title}", rows, columns, note)


def _share_of_leads(rows: pl.DataFrame, by: str, column: str) -> dict[str, float]:
    best = pl.col(column).max().over(*SUBJECT, "metric")
    led = rows.with_columns(is_best=pl.col(column) >= best * (1 - 1e-12))
    shares = led.group_by(by).agg(pl.col("is_best").mean())
    return dict(shares.iter_rows())


def _finished(search: pl.DataFrame) -> str:
    """How many searches came to their end in the fixed time, in words."""
    ended = search.filter(pl.col("method").str.ends_with(IN_TIME))["ending"] == "finished"
    return f"{int(ended.sum()):,} of {len(ended):,}"


def _combinations_table(
    name: str, title: str, search: pl.DataFrame, chance: pl.DataFrame
) -> OutcomeTable:
    per_seed = (
        _with_exact(search, chance, IN_COMBINATIONS)
        .group_by("method", "seed", maintain_order=True)
        .agg(mean_accuracy(), pl.col("combinations", "users").mean())
    )
    rows = per_seed.group_by("method", maintain_order=True).agg(
        pl.col("accuracy").mean(),
        pl.col("accuracy").std().alias("accuracy_sd"),
        pl.col("combinations", "users").mean(),
    )
    columns: list[layout.Column] = [
        ("method", layout.text("method")),
        ("accuracy", layout.percent_spread("accuracy")),
        ("combinations queried", layout.count("combinations")),
        ("users scored", layout.count("users")),
    ]
    note = "Mean over models and metrics, spread over seeds."
    return layout.table(name, title, rows, columns, note)


def _with_exact(search: pl.DataFrame, chance: pl.DataFrame, limit: str) -> pl.DataFrame:
    """The searches under a limit and the exact gaps; methods without the name of the limit."""
    exact = chance.select(*SUBJECT, "metric", "min_support", exact="gap").filter(
        pl.col("min_support") == pl.col("min_support").min()
    )
    return (
        search.filter(pl.col("method").str.ends_with(limit))
        .join(exact, on=[*SUBJECT, "metric"])
        .with_columns(pl.col("method").str.strip_suffix(limit))
    )


def _time_table(name: str, where: str, search: pl.DataFrame, chance: pl.DataFrame) -> OutcomeTable:
    rows = (
        _with_exact(search, chance, IN_TIME)
        .group_by(*SUBJECT, "method", maintain_order=True)
        .agg(
            mean_accuracy(),
            pl.col("limit").first(),
            pl.col("seconds_of_search").max(),
            (pl.col("ending") == "finished").mean().alias("finished"),
            pl.col("users").mean(),
        )
    )
    columns: list[layout.Column] = [
        ("model", layout.model_title),
        ("method", layout.text("method")),
        ("fixed time, s", layout.figure("limit")),
        ("longest search, s", layout.figure("seconds_of_search")),
        ("finished in time", layout.percent("finished", 0)),
        ("accuracy", layout.percent("accuracy")),
        ("users scored", layout.count("users")),
    ]
    return layout.table(name, f"The fixed time itself: {where}", rows, columns, "", 2)


def _experiment(name: str, label: str, datasets: tuple[str, ...]) -> Experiment:
    return Experiment(
        name=name,
        label=label,
        title="Effectiveness within a limit",
        datasets=datasets,
        plan=plan,
        outcome=partial(outcome, experiment=name),
    )


EXPERIMENT = _experiment("table3", "Table 3", ("movielens-1m", "lfm360k"))
APPENDIX = _experiment("table3-appendix", "Table 7", ("blackfriday", "amazon-electronics"))
