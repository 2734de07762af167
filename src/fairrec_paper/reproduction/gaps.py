"""Tables 2 and 5: gaps found beside what the paper claims, and gaps by attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from fairrec.report.words import number
from fairrec_paper.reproduction import layout
from fairrec_paper.reproduction.comparison import (
    SUBJECT,
    check_enumeration,
    compared_gaps,
    costs,
    published_exact,
    published_gaps,
    with_pooled,
)
from fairrec_paper.reproduction.data import TITLES
from fairrec_paper.reproduction.experiment import Experiment, Frames, Setting, Trial
from fairrec_paper.reproduction.layout import Outcome, OutcomeTable
from fairrec_paper.reproduction.methods import (
    ADAPTIVE,
    ADAPTIVE_TENTH,
    DPSO,
    EXACT,
    FAIRAS,
    FAIRAS_TEN,
    POOLED,
    THEMIS,
    THETAS,
    ByDataset,
    Method,
    chance_trial,
    large_groups,
    method_trials,
)
from fairrec_paper.reproduction.subject import MIN_SUPPORT

ALPHA = 0.05

GapsAndCosts = tuple[str, pl.DataFrame, pl.DataFrame]
"""A data set, its gaps and its costs."""


def claims_table(setting: Setting, parts: Sequence[GapsAndCosts]) -> OutcomeTable:
    """A row for each data set and claim."""
    rows = [
        {
            "dataset": dataset,
            "data": setting.title_of(dataset),
            "claim": claim,
            "published": published,
            "here": here,
        }
        for dataset, gaps, spent in parts
        for claim, (published, here) in _claims(gaps, spent).items()
    ]
    data = pl.DataFrame(rows)
    columns = [(name, layout.text(name)) for name in ("data", "claim", "published", "here")]
    note = (
        "Published figures are computed from the paper's own table, over the models compared here. "
        "Times are those of all metrics together; all ratios are means over models."
    )
    title = f"The paper's claims: {setting.title}"
    return layout.table("claims", title, data, columns, note, 4)


def _claims(gaps: pl.DataFrame, spent: pl.DataFrame) -> dict[str, tuple[str, str]]:
    """What is published and what is found here, by claim."""
    over_models = spent.group_by("method", maintain_order=True).agg(
        pl.col("accuracy", "published_accuracy", "share").mean()
    )
    by_method = {row["method"]: row for row in over_models.to_dicts()}
    against = _against_themis(spent)
    fairrec, cost = by_method[DPSO.title], against[DPSO.title]
    accuracies = (_percent(fairrec["published_accuracy"]), _percent(fairrec["accuracy"]))
    claims = {
        "mean accuracy of FairRec": accuracies,
        "time of FairRec, of Themis'": (_percent(cost["published_time"]), _percent(cost["time"])),
        "users scored by FairRec for one metric, of Themis'": ("-", _percent(cost["users_of_one"])),
        "users scored by FairRec for all metrics, of Themis'": ("-", _percent(cost["users"])),
        "combinations queried by FairRec for one metric, of Themis'": (
            "-",
            _percent(cost["combinations"]),
        ),
        "FairRec nearer to the exact gap than TestSGD": (
            _nearest(gaps, "published_accuracy"),
            _nearest(gaps, "accuracy"),
        ),
        "methods from the most accurate": (
            _ranking(by_method, "published_accuracy"),
            _ranking(by_method, "accuracy"),
        ),
        "significant gaps (p <= 0.05)": ("-", _significant(gaps)),
    }
    for method in (EXACT, ADAPTIVE, ADAPTIVE_TENTH):
        cost = against[method.title]
        accuracy = _percent(by_method[method.title]["accuracy"])
        found = f"{accuracy}; {_percent(cost['time'])} and {_percent(cost['users'])}"
        claims[f"{method.title}: accuracy; time and users, of Themis'"] = ("-", found)
    return claims


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}%"


def _against_themis(spent: pl.DataFrame) -> dict[str, dict[str, float | None]]:
    """Ratios to Themis in the mean over models."""
    columns = {
        "seconds": "time",
        "users": "users_of_one",
        "users_together": "users",
        "combinations": "combinations",
        "published_seconds": "published_time",
    }
    themis = spent.filter(method=THEMIS.title).select("model", *columns)
    joined = spent.join(themis, on="model", suffix="_themis")
    ratios = joined.group_by("method").agg(
        (pl.col(name) / pl.col(f"{name}_themis")).mean().alias(short)
        for name, short in columns.items()
    )
    return {row.pop("method"): row for row in ratios.to_dicts()}


def _nearest(gaps: pl.DataFrame, column: str) -> str:
    """In how many cases FairRec has found at least as much as both forms of TestSGD."""
    is_testsgd = pl.col("method").str.starts_with("TestSGD")
    cases = (
        gaps.filter(pl.col("metric") != POOLED)
        .group_by(*SUBJECT, "metric")
        .agg(
            ours=pl.col(column).filter(pl.col("method") == DPSO.title).max(),
            other=pl.col(column).filter(is_testsgd).max(),
        )
        .drop_nulls()
    )
    return f"{(cases['ours'] >= cases['other']).sum()} of {cases.height}" if cases.height else "-"


def _ranking(by_method: dict[str, dict[str, float | None]], column: str) -> str:
    known = [
        (value, title.removesuffix(" (dpso)"))
        for title, row in by_method.items()
        if not title.startswith("ours") and (value := row[column]) is not None
    ]
    ordered = sorted(known, key=lambda pair: -pair[0])
    return ", ".join(f"{title} {100 * value:.0f}%" for value, title in ordered) or "-"


def _significant(gaps: pl.DataFrame) -> str:
    exact = gaps.filter(pl.col("method") == THEMIS.title, pl.col("metric") != POOLED)
    known = exact["p_value"].drop_nulls()
    return f"{int((known <= ALPHA).sum())} of {len(known)}"


ENUMERATE = ("themis", "exact")
"""Searchers that find the exact gap, which has its own column."""


def gap_table(
    name: str, title: str, gaps: pl.DataFrame, chance: pl.DataFrame, methods: Sequence[Method]
) -> OutcomeTable:
    """A row for each model and metric, and a column for each method.

    Parameters
    ----------
    gaps : as `compared_gaps` gives them, of one data set
    chance : rows of chance trials
    """
    exact = chance.filter(min_support=MIN_SUPPORT)
    found = {
        (row["model"], row["metric"], row["method"]): row for row in gaps.iter_rows(named=True)
    }
    rows = exact.join(published_exact(), on=[*SUBJECT, "metric"], how="left", maintain_order="left")

    def of_method(method: Method) -> layout.Shown:
        def shown(row: layout.ShownRow) -> str:
            return _found(found.get((row["model"], row["metric"], method.title)))

        return shown

    columns: list[layout.Column] = [
        ("model", layout.model_title),
        ("metric", layout.text("metric")),
        ("exact gap", layout.figure("gap")),
        ("published", layout.figure("published")),
        *layout.CHANCE,
        ("p", layout.p_value()),
    ]
    columns += [
        (method.title, of_method(method))
        for method in methods
        if method.searcher not in ENUMERATE or method.users is not None
    ]
    note = (
        f"{about_groups(chance)} In brackets: published. Spread over seeds where a method varies. "
        "p: how often shuffled attributes show a gap at least as large as the exact one; the "
        "p-value of every method's gap is in the CSV and Parquet files."
    )
    return layout.table(name, title, rows, columns, note, 2, data=gaps)


def paper_table(name: str, title: str, gaps: pl.DataFrame, spent: pl.DataFrame) -> OutcomeTable:
    """The same as the paper prints it: a row for each model and method, a column for each metric.

    Parameters
    ----------
    gaps, spent : as `compared_gaps` and `costs` give them, of one data set
    """
    metrics = gaps["metric"].unique(maintain_order=True).to_list()
    found = {(row["model"], row["method"], row["metric"]): row for row in gaps.to_dicts()}

    def of_metric(metric: str) -> layout.Shown:
        return lambda row: _found(found.get((row["model"], row["method"], metric)))

    def seconds(row: layout.ShownRow) -> str:
        return _with_printed(number(row["seconds"]), row["published_seconds"])

    columns: list[layout.Column] = [
        ("model", layout.model_title),
        ("method", layout.text("method")),
        *((metric, of_metric(metric)) for metric in metrics),
        ("time (s)", seconds),
    ]
    wide = gaps.pivot("metric", index=["model", "method"], values="gap")
    times = spent.select("model", "method", "seconds", "published_seconds")
    rows = times.join(wide, on=["model", "method"], how="left", maintain_order="left")
    note = (
        "Gaps as the paper arranges them; in brackets: published. Spread over seeds where a method "
        f"varies. The paper's auc is {POOLED} here, which a search cannot look for."
    )
    return layout.table(name, title, rows, columns, note, 2)


def about_groups(chance: pl.DataFrame) -> str:
    """What is compared, in a line."""
    row = chance.filter(min_support=MIN_SUPPORT).row(0, named=True)
    return (
        f"{row['n_users']:,} users, {row['n_groups']:,} groups of at least {row['min_users']:,} "
        f"among {row['n_combinations']:,} combinations."
    )


def _found(row: dict[str, Any] | None) -> str:
    if row is None:
        return "-"
    return _with_printed(layout.spread("gap")(row), row["published"])


def _with_printed(ours: str, printed: float | None) -> str:
    return ours if printed is None else f"{ours} ({number(printed)})"


def cost_table(name: str, title: str, spent: pl.DataFrame) -> OutcomeTable:
    """A row for each model and method, as `costs` gives them."""
    columns: list[layout.Column] = [
        ("model", layout.model_title),
        ("method", layout.text("method")),
        ("accuracy", layout.percent_spread("accuracy")),
        ("published", layout.percent("published_accuracy")),
        ("users scored", layout.count("users")),
        ("of all", layout.percent("share", 0)),
        ("combinations queried", layout.count("combinations")),
        ("users, all metrics", layout.count("users_together")),
        ("seconds", layout.spread("seconds")),
        ("published s", layout.figure("published_seconds")),
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
            THEMIS,
            *(large_groups(theta) for theta in THETAS[source.name]),
            DPSO,
            FAIRAS,
            *((FAIRAS_TEN,) if source.name == "lfm360k" else ()),
            EXACT,
            ADAPTIVE,
            ADAPTIVE_TENTH,
        ]
        for source in setting.sources
    }


def plan_effectiveness(setting: Setting) -> list[Trial]:
    """All searches and all null distributions."""
    return method_trials(setting, _methods(setting))


def outcome_of_effectiveness(setting: Setting, frames: Frames) -> Outcome:
    """The paper's claims, gaps and costs."""
    search, chance = frames["search"], frames["chance"]
    largest = check_enumeration(search, THEMIS.title, EXACT.title)
    tables: list[OutcomeTable] = []
    claims = []
    for dataset, methods in _methods(setting).items():
        own_search, own_chance = search.filter(dataset=dataset), chance.filter(dataset=dataset)
        gaps = compared_gaps(own_search, own_chance, methods, "table2")
        spent = costs(own_search, gaps, methods)
        where = setting.title_of(dataset)
        tables.append(gap_table(f"gaps-{dataset}", f"Gaps: {where}", gaps, own_chance, methods))
        tables.append(paper_table(f"paper-{dataset}", f"As in the paper: {where}", gaps, spent))
        tables.append(cost_table(f"costs-{dataset}", f"Accuracy and cost: {where}", spent))
        claims.append((dataset, gaps, spent))
    first = claims_table(setting, claims)
    agree = f"Themis and one pass over everyone agree to {largest:.1g} in every cell."
    return Outcome((first, *tables), (), (agree, *NOTES))


EFFECTIVENESS_EXPERIMENT = Experiment(
    name="table2",
    label="Table 2",
    title="Effectiveness and time of the methods",
    datasets=tuple(TITLES),
    plan=plan_effectiveness,
    outcome=outcome_of_effectiveness,
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
    trials = []
    for source in setting.sources:
        subject, labels = setting.one_subject(source, PAPER_MODEL)
        names = STEPS[source.name]
        for n in range(1, len(names) + 1):
            about = {**labels, "attributes": ", ".join(names[:n])}
            trials.append(chance_trial(subject, about, setting.options.permutations, by=names[:n]))
    return trials


def outcome_of_attributes(setting: Setting, frames: Frames) -> Outcome:
    """A row for each set of attributes and metric."""
    printed = with_pooled(published_gaps("table-attributes"))
    rows = (
        frames["chance"]
        .drop("by_chance")
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
        ("metric", layout.text("metric")),
        ("groups", layout.count("n_groups")),
        ("gap", layout.figure("gap")),
        ("published", layout.figure("published")),
        *layout.CHANCE,
        ("gap / chance", layout.figure("times_chance")),
        ("p", layout.p_value()),
        ("users scored", layout.count("n_users")),
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
    outcome=outcome_of_attributes,
)
