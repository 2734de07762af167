"""Tables 2, 3, 5 and 7: gaps beside the published figures, within limits, and by attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from importlib.resources import files
from typing import Any

import numpy as np
import polars as pl

from fairrec.metrics.item_exposure import discounts
from fairrec.report.words import number
from fairrec.statistics.permutation import gap_p_value
from fairrec_paper.reproduction import layout, methods
from fairrec_paper.reproduction.data import MIN_SUPPORT, TITLES
from fairrec_paper.reproduction.experiment import Experiment, Frames, Setting, Trial
from fairrec_paper.reproduction.layout import Outcome, OutcomeTable
from fairrec_paper.reproduction.methods import POOLED, ByDataset, Method, chance_trial

IDEAL_OF_FIVE = float(discounts(5).sum())
"""2.9485: the paper's NDCG@5 is divided by the gain of five relevant items, though every user has
one target. Ours is divided by the gain of that one target, which is 1."""

OUR_NAMES = {"mrr": "mrr@5", "ndcg": "ndcg@5", "urd": "urd@5", "urp": "urp@5"}
"""The paper's metrics are ours at five; its `auc` is our `pooled_auc`, and stands beside both."""


@cache
def published() -> pl.DataFrame:
    """All published numbers, metrics under our names.

    Returns
    -------
    `experiment, label, dataset, model, method, metric, published, printed, unit`; `published` is
    on our scale, so that NDCG is multiplied by `IDEAL_OF_FIVE`, and `printed` as in the paper
    """
    with (files("fairrec_paper.reproduction") / "published.csv").open("rb") as file:
        rows = pl.read_csv(file.read(), schema_overrides={"value": pl.Float64})
    scale = pl.when(pl.col("metric") == "ndcg").then(IDEAL_OF_FIVE).otherwise(1.0)
    return rows.select(
        pl.col("experiment", "label", "dataset", "model", "method").fill_null(""),
        pl.col("metric").replace(OUR_NAMES),
        published=pl.col("value") * scale,
        printed="value",
        unit=pl.col("unit").fill_null(""),
    )


def published_gaps(experiment: str) -> pl.DataFrame:
    """`dataset, model, method, metric, published` of the gaps of an experiment's table."""
    return (
        published()
        .filter(pl.col("experiment") == experiment, pl.col("label").str.starts_with("Table"))
        .filter(pl.col("metric") != "time")
        .select("dataset", "model", "method", "metric", "published")
    )


def published_seconds(experiment: str) -> pl.DataFrame:
    """`dataset, model, method, published_seconds`."""
    return (
        published()
        .filter(pl.col("experiment") == experiment, pl.col("metric") == "time")
        .select("dataset", "model", "method", published_seconds="published")
    )


SUBJECT = ["dataset", "model"]


def mean_accuracy() -> pl.Expr:
    """`accuracy`: the mean share of the exact gap that was found; where that is 0 there is none."""
    return (pl.col("gap") / pl.col("exact")).filter(pl.col("exact") > 0).mean().alias("accuracy")


def mean_and_sd(*names: str) -> tuple[pl.Expr, pl.Expr]:
    """Means, and standard deviations as `NAME_sd`; null of a single value."""
    return pl.col(names).mean(), pl.col(names).std().name.suffix("_sd")


def compare_gaps(
    search: pl.DataFrame, chance: pl.DataFrame, searches: Sequence[Method], experiment: str
) -> pl.DataFrame:
    """One row for each data set, model, method and metric.

    Parameters
    ----------
    search : rows of search trials
    chance : rows of chance trials, with `min_support`

    Returns
    -------
    `dataset, model, method, metric, gap, gap_sd, accuracy, accuracy_sd, users, share, exact,
    published, published_accuracy, chance_mean, chance_q95, p_value`; `sd` over seeds, null for one;
    accuracies as shares of the exact gap, null where that is 0; the null distribution is that of
    gaps between the groups that a method looks at, and `p_value` is of the gap it found
    """
    exact = chance.filter(min_support=MIN_SUPPORT).select(*SUBJECT, "metric", exact="gap")
    seeds = search.join(exact, on=[*SUBJECT, "metric"], how="left").with_columns(
        accuracy=pl.when(pl.col("exact") > 0).then(pl.col("gap") / pl.col("exact")).round(12)
    )
    rows = seeds.group_by(*SUBJECT, "method", "metric", maintain_order=True).agg(
        *mean_and_sd("gap"),
        *mean_and_sd("accuracy"),
        pl.col("users").mean(),
        (pl.col("users") / pl.col("n_users")).mean().alias("share"),
        pl.col("exact").first(),
    )
    rows = pl.concat([rows, _pooled(rows, chance, searches)], how="diagonal_relaxed")
    rows = rows.join(_search_table(searches), on="method", how="left", maintain_order="left")
    levels = chance.select(
        *SUBJECT, "metric", "min_support", "chance_mean", "chance_q95", "by_chance"
    )
    rows = rows.join(
        levels, on=[*SUBJECT, "metric", "min_support"], how="left", maintain_order="left"
    )
    p_values = [
        gap_p_value(np.array(by_chance), gap) if by_chance else None
        for gap, by_chance in rows.select("gap", "by_chance").iter_rows()
    ]
    rows = rows.with_columns(pl.Series("p_value", p_values, dtype=pl.Float64))
    return _with_published(rows, experiment).drop("published_as", "min_support", "by_chance")


def _search_table(searches: Sequence[Method]) -> pl.DataFrame:
    """`method, published_as, min_support`."""
    rows = [(method.title, method.published, method.min_support) for method in searches]
    return pl.DataFrame(rows, ["method", "published_as", "min_support"], orient="row")


def _pooled(rows: pl.DataFrame, chance: pl.DataFrame, searches: Sequence[Method]) -> pl.DataFrame:
    """The pooled AUC, which is the paper's, of methods that enumerate groups.

    It is no mean over users, so a search cannot look for it; who enumerates can compute it.
    """
    exact = chance.filter(pl.col("metric") == POOLED, pl.col("min_support") == MIN_SUPPORT)
    parts = []
    for method in searches:
        if method.searcher not in ("themis", "testsgd", "exact") or method.users is not None:
            continue
        own = chance.filter(metric=POOLED, min_support=method.min_support)
        costs = rows.filter(method=method.title, metric="auc").select(*SUBJECT, "users", "share")
        parts.append(
            own.select(*SUBJECT, "metric", "gap")
            .join(exact.select(*SUBJECT, exact="gap"), on=SUBJECT)
            .join(costs, on=SUBJECT)
            .with_columns(
                method=pl.lit(method.title),
                accuracy=pl.when(pl.col("exact") > 0).then(pl.col("gap") / pl.col("exact")),
            )
        )
    return pl.concat(parts) if parts else rows.clear()


def add_pooled(gaps: pl.DataFrame) -> pl.DataFrame:
    """The gaps, and those of `auc` once more as those of `pooled_auc`, which the paper's is."""
    pooled = gaps.filter(metric="auc").with_columns(metric=pl.lit(POOLED))
    return pl.concat([gaps, pooled])


def published_exact() -> pl.DataFrame:
    """`dataset, model, metric, published`: the gaps that the paper takes for exact, Themis'."""
    return add_pooled(published_gaps("table2").filter(method="themis").drop("method"))


def _with_published(rows: pl.DataFrame, experiment: str) -> pl.DataFrame:
    known = add_pooled(published_gaps(experiment)).rename({"method": "published_as"})
    best = published_exact().rename({"published": "best"})
    joined = rows.join(
        known, on=[*SUBJECT, "metric", "published_as"], how="left", maintain_order="left"
    ).join(best, on=[*SUBJECT, "metric"], how="left", maintain_order="left")
    return joined.with_columns(published_accuracy=pl.col("published") / pl.col("best")).drop("best")


def compute_costs(
    search: pl.DataFrame, gaps: pl.DataFrame, searches: Sequence[Method]
) -> pl.DataFrame:
    """One row for each data set, model and method, over all metrics.

    Returns
    -------
    `dataset, model, method, accuracy, accuracy_sd, users, share, combinations, users_together,
    seconds, seconds_sd, published_accuracy, published_seconds`; `accuracy` is the mean over
    metrics, its sd over seeds; `users` and `combinations` of the search for one metric,
    `users_together` of all of them, as a user is scored once
    """
    exact = gaps.select(*SUBJECT, "metric", "exact").unique()
    per_seed = (
        search.join(exact, on=[*SUBJECT, "metric"])
        .filter(pl.col("exact") > 0)
        .group_by(*SUBJECT, "method", "seed", maintain_order=True)
        .agg(
            mean_accuracy().round(12),
            pl.col("users", "combinations").mean(),
            (pl.col("users") / pl.col("n_users")).mean().alias("share"),
            pl.col("users_together", "seconds").first(),
        )
    )
    rows = per_seed.group_by(*SUBJECT, "method", maintain_order=True).agg(
        *mean_and_sd("accuracy"),
        pl.col("users", "share", "combinations", "users_together").mean(),
        *mean_and_sd("seconds"),
    )
    printed = (
        gaps.filter(pl.col("metric") != POOLED)
        .group_by(*SUBJECT, "method")
        .agg(pl.col("published_accuracy").mean())
    )
    names = _search_table(searches).drop("min_support")
    seconds = published_seconds("table2").rename({"method": "published_as"})
    return (
        rows.join(printed, on=[*SUBJECT, "method"], how="left", maintain_order="left")
        .join(names, on="method", how="left", maintain_order="left")
        .join(seconds, on=[*SUBJECT, "published_as"], how="left", maintain_order="left")
        .drop("published_as")
    )


ENUMERATE = ("themis", "exact")
"""Searchers that find the exact gap, which has its own column."""


def gap_table(
    name: str, title: str, gaps: pl.DataFrame, chance: pl.DataFrame, searches: Sequence[Method]
) -> OutcomeTable:
    """A row for each model and metric, and a column for each method.

    Parameters
    ----------
    gaps : as `compare_gaps` gives them, of one data set
    chance : rows of chance trials
    """
    exact = chance.filter(min_support=MIN_SUPPORT)
    found = {
        (row["model"], row["metric"], row["method"]): row for row in gaps.iter_rows(named=True)
    }
    rows = exact.join(published_exact(), on=[*SUBJECT, "metric"], how="left", maintain_order="left")

    def of_method(method: Method) -> layout.Shown:
        def shown(row: layout.ShownRow) -> str:
            return _gap_cell(found.get((row["model"], row["metric"], method.title)))

        return shown

    columns: list[layout.Column] = [
        *("model", "metric"),
        ("exact gap", layout.figure("gap")),
        *("published", *layout.CHANCE, "p_value"),
        *((one.title, of_method(one)) for one in searches if one.searcher not in ENUMERATE),
    ]
    note = (
        f"{about_groups(chance)} In brackets: published. Spread over seeds where a method varies. "
        "p: how often shuffled attributes show a gap at least as large as the exact one; the "
        "p-value of every method's gap is in the CSV file."
    )
    return layout.table(name, title, rows, columns, note, 2, data=gaps)


def about_groups(chance: pl.DataFrame) -> str:
    """What is compared, in a line."""
    row = chance.filter(min_support=MIN_SUPPORT).row(0, named=True)
    return (
        f"{row['n_users']:,} users, {row['n_groups']:,} groups of at least {row['min_users']:,} "
        f"among {row['n_combinations']:,} combinations."
    )


def _gap_cell(row: dict[str, Any] | None) -> str:
    if row is None:
        return "-"
    ours, printed = layout.spread("gap")(row), row["published"]
    return ours if printed is None else f"{ours} ({number(printed)})"


def cost_table(name: str, title: str, spent: pl.DataFrame) -> OutcomeTable:
    """A row for each model and method, as `compute_costs` gives them."""
    columns = [
        *("model", "method", "accuracy_sd", "published_accuracy", "users", "share"),
        *("combinations", "users_together", "seconds_sd", "published_seconds"),
    ]
    note = (
        "Accuracy: gap found as a share of the exact one, mean over metrics, spread over seeds. "
        "Users scored: for one metric, and for all metrics together. Combinations queried: for one "
        "metric, those without enough users too. Seconds: for all metrics."
    )
    return layout.table(name, title, spent, columns, note, 2)


NOTES = (
    "Seconds are of the whole test of all metrics (scoring, metrics, search) on this machine. "
    "Themis here asks the model for one group after the other, but once for all metrics; the "
    "published times are of an implementation that queries a data frame for every combination.",
    "The paper's auc is of the pooled rows of a group, here pooled_auc. It is no mean over users, "
    "so only what enumerates groups can report it; a search looks for auc, the mean of the users' "
    "own.",
    "Published NDCG is multiplied by 2.9485: the paper divides by the gain of five relevant items, "
    "though each user has one target.",
)


def _methods(setting: Setting) -> ByDataset:
    return {
        source.name: [
            methods.THEMIS,
            *methods.testsgds(source.name),
            *(methods.DPSO, methods.FAIRAS),
            *((methods.FAIRAS_TEN,) if source.name == "lfm360k" else ()),
            *(methods.EXACT, methods.ADAPTIVE, methods.ADAPTIVE_TENTH),
        ]
        for source in setting.sources
    }


def plan_effectiveness(setting: Setting) -> list[Trial]:
    """All searches and all null distributions."""
    return methods.method_trials(setting, _methods(setting))


def report_effectiveness(setting: Setting, frames: Frames) -> Outcome:
    """The gaps and the costs of each data set."""
    search, chance = frames["search"], frames["chance"]
    tables: list[OutcomeTable] = []
    for dataset, searches in _methods(setting).items():
        own_search, own_chance = search.filter(dataset=dataset), chance.filter(dataset=dataset)
        gaps = compare_gaps(own_search, own_chance, searches, "table2")
        spent = compute_costs(own_search, gaps, searches)
        where = setting.source_title(dataset)
        tables += [
            cost_table(f"costs-{dataset}", f"Accuracy and cost: {where}", spent),
            gap_table(f"gaps-{dataset}", f"Gaps: {where}", gaps, own_chance, searches),
        ]
    return Outcome(tuple(tables), (), NOTES)


EFFECTIVENESS_EXPERIMENT = Experiment(
    name="table2",
    label="Table 2",
    title="Effectiveness and time of the methods",
    datasets=tuple(TITLES),
    plan=plan_effectiveness,
    outcome=report_effectiveness,
)


STEPS = {
    "movielens-1m": ("gender", "age", "occupation"),
    "blackfriday": (
        "gender",
        "age",
        "city_category",
        "stay_in_current_city_years",
        "marital_status",
        "occupation",
    ),
}
"""The attributes in the order in which the paper adds them."""
PAPER_MODEL = "wide_deep"
"""The paper does not say which; its last rows are the Themis rows of Wide&Deep in its Table 2."""


def plan_attributes(setting: Setting) -> list[Trial]:
    """The exact gaps by more and more attributes, with their null distributions."""
    permutations = setting.options.permutations
    trials = []
    for source in setting.sources:
        subject, names = setting.one_subject(source, PAPER_MODEL), STEPS[source.name]
        for n in range(1, len(names) + 1):
            labels = {"attributes": ", ".join(names[:n])}
            trials.append(chance_trial(subject, permutations, labels, by=names[:n]))
    return trials


def report_attributes(setting: Setting, frames: Frames) -> Outcome:
    """A row for each set of attributes and metric."""
    printed = add_pooled(published_gaps("table-attributes"))
    rows = (
        frames["chance"]
        .drop("by_chance", "min_support")
        .join(
            printed.rename({"method": "attributes"}).drop("model"),
            on=["dataset", "attributes", "metric"],
            how="left",
            maintain_order="left",
        )
        .with_columns(times_chance=pl.col("gap") / pl.col("chance_mean"))
    )
    columns: list[layout.Column] = [
        ("attributes", layout.text("attributes")),
        *("metric", "n_groups", "gap", "published", *layout.CHANCE),
        *(("gap / chance", layout.figure("times_chance")), "p_value", "n_users"),
    ]
    note = (
        "Gaps are exact: everyone is scored once, whatever the number of attributes. Groups with "
        "less than 0.1% of the users are left out, as in the paper."
    )
    tables = []
    for source in setting.sources:
        part = rows.filter(dataset=source.name)
        model = layout.model_title(part.row(0, named=True))
        title = f"Gaps by attributes: {source.title}, {model}"
        name = f"attributes-{source.name}"
        tables.append(layout.table(name, title, part, columns, note, 2))
    notes = (
        "A finer division has smaller groups, and the largest difference between small groups is "
        "large by chance alone: 'gap / chance' says how much of the growth is more than that.",
    )
    return Outcome(tuple(tables), (), notes)


ATTRIBUTES_EXPERIMENT = Experiment(
    name="table-attributes",
    label="Table 5",
    title="Gaps by one, two and more attributes",
    datasets=tuple(STEPS),
    plan=plan_attributes,
    outcome=report_attributes,
)


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
        np.mean(
            methods.paper_seconds(*PAPER_SIZES[dataset]) / seconds["published_seconds"].to_numpy()
        )
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


def plan_fixed_time(setting: Setting) -> list[Trial]:
    """All searches under both limits, and all null distributions."""
    return methods.method_trials(
        setting,
        {
            source.name: [*within_users(source.name), *within_time(source.name)]
            for source in setting.sources
        },
    )


def report_fixed_time(setting: Setting, frames: Frames, experiment: str) -> Outcome:
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


def _within_limit(name: str, label: str, datasets: tuple[str, ...]) -> Experiment:
    return Experiment(
        name=name,
        label=label,
        title="Effectiveness within a limit",
        datasets=datasets,
        plan=plan_fixed_time,
        outcome=partial(report_fixed_time, experiment=name),
    )


FIXED_TIME_EXPERIMENT = _within_limit("table3", "Table 3", ("movielens-1m", "lfm360k"))
APPENDIX_EXPERIMENT = _within_limit(
    "table3-appendix", "Table 7", ("blackfriday", "amazon-electronics")
)
