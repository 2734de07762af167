"""Table 5: the gap when users are divided by one attribute, by two, and so on."""

from __future__ import annotations

import polars as pl

from fairrec_paper.reproduction import layout
from fairrec_paper.reproduction.comparison import with_pooled
from fairrec_paper.reproduction.experiment import Experiment, Frames, Setting
from fairrec_paper.reproduction.outcome import Outcome
from fairrec_paper.reproduction.published import published_gaps
from fairrec_paper.reproduction.trials.chance import chance_trial
from fairrec_paper.reproduction.trials.trial import Trial

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


def plan(setting: Setting) -> list[Trial]:
    """The exact gaps by more and more attributes, with their null distributions."""
    trials = []
    for source in setting.sources:
        subject, labels = setting.one_subject(source, PAPER_MODEL)
        names = STEPS[source.name]
        for n in range(1, len(names) + 1):
            about = {**labels, "attributes": ", ".join(names[:n])}
            trials.append(chance_trial(subject, about, setting.options.permutations, by=names[:n]))
    return trials


def outcome(setting: Setting, frames: Frames) -> Outcome:
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
        ("chance: mean", layout.figure("chance_mean")),
        ("95%", layout.figure("chance_q95")),
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


EXPERIMENT = Experiment(
    name="table-attributes",
    label="Table 5",
    title="Gaps by one, two and more attributes",
    datasets=tuple(STEPS),
    plan=plan,
    outcome=outcome,
)
