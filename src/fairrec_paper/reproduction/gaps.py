"""Tables 2 and 5: gaps found beside what the paper claims, and gaps by attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from fairrec.report.words import number
from fairrec_paper.reproduction import layout, methods
from fairrec_paper.reproduction.comparison import (
    SUBJECT,
    add_pooled,
    compare_gaps,
    compute_costs,
    published_exact,
    published_gaps,
)
from fairrec_paper.reproduction.data import TITLES
from fairrec_paper.reproduction.experiment import Experiment, Frames, Setting, Trial
from fairrec_paper.reproduction.layout import Outcome, OutcomeTable
from fairrec_paper.reproduction.methods import ByDataset, Method, chance_trial
from fairrec_paper.reproduction.subject import MIN_SUPPORT

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
