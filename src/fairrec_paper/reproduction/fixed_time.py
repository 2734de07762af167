"""Tables 3 and 7: searches that get the same time, or the same number of users."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl

from fairrec.search.options import paper_seconds
from fairrec_paper.reproduction import layout, methods
from fairrec_paper.reproduction.comparison import (
    SUBJECT,
    compare_gaps,
    mean_accuracy,
    published_gaps,
    published_seconds,
)
from fairrec_paper.reproduction.experiment import Experiment, Frames, Setting, Trial
from fairrec_paper.reproduction.gaps import gap_table
from fairrec_paper.reproduction.layout import Outcome, OutcomeTable
from fairrec_paper.reproduction.methods import POOLED, Method
from fairrec_paper.reproduction.subject import MIN_SUPPORT

PAPER_SIZES = {
    "movielens-1m": (6040, 294),
    "lfm360k": (260_000, 53_058),
    "blackfriday": (5889, 8820),
    "amazon-electronics": (175_878, 1000),
}
"""Users and combinations of the paper's data sets."""
IN_TIME = ", fixed time"


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
    searches = (methods.RANDOM, *methods.testsgds(dataset), methods.DPSO, methods.FAIRAS)
    return [
        replace(method, users=share_of_work(dataset)) for method in (*searches, methods.ADAPTIVE)
    ]


def within_time(dataset: str) -> list[Method]:
    """Methods with the paper's fixed time for each search."""
    searches = (methods.THEMIS, *methods.testsgds(dataset), methods.DPSO, methods.FAIRAS)
    return [
        replace(method, title=f"{method.title}{IN_TIME}", fixed_time=True)
        for method in (*searches, methods.EXACT)
    ]


def plan(setting: Setting) -> list[Trial]:
    """All searches under both limits, and all null distributions."""
    return methods.method_trials(
        setting,
        {
            source.name: [*within_users(source.name), *within_time(source.name)]
            for source in setting.sources
        },
    )


def outcome(setting: Setting, frames: Frames, experiment: str) -> Outcome:
    """Gaps within a share of the users, how often each method leads, and the literal fixed time."""
    tables: list[OutcomeTable] = []
    for source in setting.sources:
        dataset, where = source.name, source.title
        search = frames["search"].filter(dataset=dataset)
        chance = frames["chance"].filter(dataset=dataset)
        searches = within_users(dataset)
        gaps = compare_gaps(
            search.filter(pl.col("method").is_in([method.title for method in searches])),
            chance,
            searches,
            experiment,
        )
        title = f"Within {100 * share_of_work(dataset):.0f}% of the users: {where}"
        tables += [
            gap_table(f"gaps-{dataset}", title, gaps, chance, searches),
            _leads(f"leads-{dataset}", title, gaps, searches, experiment),
            _time_table(f"time-{dataset}", where, search, chance),
        ]
    notes = (
        f"Within the fixed time of the paper, 0.005 s for each user and each combination, "
        f"{_finished(frames['search'])} searches finished. Its sense, that only a part of the work "
        "can be done, is kept by a budget in users: the same share of all users as the fixed time "
        "was of the time of the paper's Themis, in the mean over models.",
        "In fixed time the paper's Themis becomes a random search; here it takes groups in random "
        "order. TestSGD takes its groups in the order of their values.",
    )
    return Outcome(tuple(tables), (), notes)


def _leads(
    name: str, title: str, gaps: pl.DataFrame, searches: Sequence[Method], experiment: str
) -> OutcomeTable:
    """How often each of the paper's methods has found the largest gap; ties count for each."""
    theirs = [method.title for method in searches if method.published]
    cases = gaps.filter(pl.col("metric") != POOLED, pl.col("method").is_in(theirs))
    own = _share_of_leads(cases, "gap")
    known = published_gaps(experiment).filter(dataset=gaps["dataset"][0])
    printed = _share_of_leads(known, "published")
    means = gaps.group_by("method").agg(
        pl.col("accuracy", "published_accuracy", "users", "share").mean()
    )
    rows = pl.DataFrame(
        [(one.title, own.get(one.title), printed.get(one.published)) for one in searches],
        ["method", "leads", "published_leads"],
        orient="row",
    ).join(means, on="method", maintain_order="left")
    columns: list[layout.Column] = [
        *("method", ("largest gap", layout.percent("leads", 0))),
        ("published", layout.percent("published_leads", 0)),
        *("accuracy", "published_accuracy", "users", "share"),
    ]
    note = (
        "In how many of the cases (models and metrics) a method finds the largest gap of all the "
        "paper's methods, and how much of the exact gap it finds in the mean."
    )
    return layout.table(name, f"Who leads. {title}", rows, columns, note)


def _share_of_leads(rows: pl.DataFrame, column: str) -> dict[str, float]:
    best = pl.col(column).max().over(*SUBJECT, "metric")
    led = rows.with_columns(is_best=pl.col(column) >= best * (1 - 1e-12))
    shares = led.group_by("method").agg(pl.col("is_best").mean())
    return dict(shares.iter_rows())


def _finished(search: pl.DataFrame) -> str:
    """How many searches came to their end in the fixed time, in words."""
    ended = search.filter(pl.col("method").str.ends_with(IN_TIME))["ending"] == "finished"
    return f"{int(ended.sum()):,} of {len(ended):,}"


def _time_table(name: str, where: str, search: pl.DataFrame, chance: pl.DataFrame) -> OutcomeTable:
    exact = chance.filter(min_support=MIN_SUPPORT).select(*SUBJECT, "metric", exact="gap")
    rows = (
        search.filter(pl.col("method").str.ends_with(IN_TIME))
        .join(exact, on=[*SUBJECT, "metric"])
        .with_columns(pl.col("method").str.strip_suffix(IN_TIME))
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
        *("model", "method", ("fixed time, s", layout.figure("limit"))),
        ("longest search, s", layout.figure("seconds_of_search")),
        *(("finished in time", layout.percent("finished", 0)), "accuracy", "users"),
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
