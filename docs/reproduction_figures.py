"""What the figures of reproduction.md show, sensitivity, and the models of results.md."""

from __future__ import annotations

import polars as pl
from reproduction_files import (
    FAIRAS,
    FAIRREC,
    METRICS,
    MODELS,
    MOVIES,
    SHAPE,
    SONGS,
    TITLES,
    of_taste,
    places,
    read,
    share,
    table,
)
from reproduction_tables import cost_row

# Figures -----------------------------------------------------------------------------------------


def figure2() -> str:
    """Shares of particles that start at a group."""
    rows = []
    for folder, title in (("ours", None), ("shape", SHAPE)):
        for row in read(f"{folder}/figure-initialise/particles").iter_rows(named=True):
            name = title or TITLES[row["dataset"]]
            shown = f"{share(row['on_groups'], 1)} ±{100 * row['on_groups_sd']:.1f}"
            if row["way"] == "uniform":
                rows.append(
                    [
                        name,
                        f"{row['n_groups']:,} of {row['n_combinations']:,}",
                        str(row["n_particles"]),
                        shown,
                    ]
                )
            else:
                rows[-1].append(shown)
    return table(["", "groups", "particles", "uniform", "by the distribution of users"], rows)


def figure3() -> str:
    """Correlation of gaps over models."""
    maps = {name: read(f"ours/figure-correlation/correlation-{name}") for name in TITLES}
    rows = []
    for first, second, *_ in maps[MOVIES].iter_rows():
        line = [f"{first} and {second}"]
        for each in maps.values():
            own = each.filter(row=first, column=second)
            if not own.height:
                line.append("")
                continue
            here, printed = own["correlation"].cast(pl.Float64)[0], own["published"][0]
            line.append(f"{'-' if here is None else f'{here:.2f}'} ({printed:.2f})")
        rows.append(line)
    return table(["", *TITLES.values()], rows)


def gains() -> dict[tuple[str, str], dict[str, float]]:
    """Rows of Figure 4 by data set, or shape, and opponent."""
    found = {}
    for folder in ("ours", "shape"):
        for row in read(f"{folder}/figure-vanilla/improvement").iter_rows(named=True):
            found[SHAPE if folder == "shape" else row["dataset"], row["opponent"]] = row
    return found


def figure4() -> str:
    """Gains of FairRec over simpler swarms."""
    found = gains()
    columns = [*TITLES, SHAPE]
    rows = [
        [
            "published gain",
            *(share(found[name, "plain pso (1995)"]["published_gap"], 1) for name in columns),
        ]
    ]
    for opponent in dict.fromkeys(opponent for _, opponent in found):
        line = [opponent]
        for name in columns:
            row = found[name, opponent]
            gain = f"{100 * row['larger_gap']:.1f}% ±{100 * row['larger_gap_sd']:.1f}"
            line.append(
                f"{gain}, {row['a12']:.2f}; {row['larger']}, {row['smaller']} of {row['cases']}"
            )
        rows.append(line)
    return table(["", *(TITLES.get(name, name) for name in columns)], rows)


def figure4_costs() -> str:
    """What these gains cost."""
    found, rows = gains(), []
    for opponent in list(dict.fromkeys(opponent for _, opponent in found))[:3]:
        line = [opponent]
        for name in (*TITLES, SHAPE):
            row = found[name, opponent]
            parts = (row["more_users"], row["more_combinations"], row["longer_time"])
            line.append(", ".join(f"{100 * part:+.0f}%" for part in parts))
        rows.append(line)
    return table(["", *TITLES.values(), SHAPE], rows)


def figure5() -> str:
    """Seconds and users at both ends of the grid."""
    rows = []
    ends = of_taste(read("ours/figure-efficiency/ends"))
    for (method,), own in ends.group_by("method", maintain_order=True):
        line = [str(method)]
        for row in own.iter_rows(named=True):
            line += [
                f"{row['seconds']:.2f} s",
                f"{row['users_together']:,.0f}",
                share(row["accuracy"]),
            ]
            line.append("" if row["published"] is None else f"{row['published']:,.0f} s")
        rows.append(line)
    each = ["users scored", "accuracy", "published"]
    return table(
        ["", "20,000 users, 10,000 groups", *each, "100,000 users, 40,000 groups", *each], rows
    )


def figure6() -> str:
    """Accuracy and users over hyper-parameters."""
    rows = []
    for dataset, title in TITLES.items():
        for (parameter,), own in read(f"ours/figure-hyper/hyper-{dataset}").group_by(
            "parameter", maintain_order=True
        ):
            values = [
                f"{row['value']:g}: {share(row['accuracy'])}, {share(row['share'])}"
                for row in own.iter_rows(named=True)
            ]
            rows.append([title, str(parameter), *values])
    return table(["", "value: accuracy, users scored", *[""] * 6], rows, 2)


def fairas() -> str:
    """What FairAS finds and pays without a limit, beside FairRec."""
    names = [*(("ours", name, title) for name, title in TITLES.items()), ("shape", SONGS, SHAPE)]
    pairs = [
        [cost_row(folder, name, method) for method in (FAIRAS, FAIRREC)]
        for folder, name, _ in names
    ]
    rows = [
        ["larger gap", *(f"{one['accuracy'] / other['accuracy'] - 1:+.1%}" for one, other in pairs)]
    ]
    for title, column in (
        ("users, one metric", "share"),
        ("users, all metrics", "users_together"),
        ("combinations", "combinations"),
        ("seconds", "seconds"),
    ):
        rows.append([title, *(f"{one[column] / other[column] - 1:+.0%}" for one, other in pairs)])
    return table(["FairAS against FairRec", *(title for *_, title in names)], rows)


def sensitivity() -> str:
    """Gaps by the smallest group and by the number of candidates."""
    rows: dict[tuple[str, str], list[str]] = {}
    each = read("ours/sensitivity/sensitivity-movielens-1m").filter(
        pl.col("metric") != "pooled_auc"
    )
    for row in each.iter_rows(named=True):
        model = MODELS[row["model"]]
        line = rows.setdefault((model, row["choice"]), [model, row["choice"], str(row["n_groups"])])
        gap, times = f"{row['gap']:.{places(row['metric'])}f}", row["gap"] / row["chance_mean"]
        line.append(f"{gap}, " + (f"**{times:.2f}**" if row["p_value"] <= 0.05 else f"{times:.2f}"))
    metrics = [name for name in METRICS if name != "pooled_auc"]
    return table(["", "", "groups", *metrics], rows.values(), 2)


# results.md --------------------------------------------------------------------------------------


def models() -> str:
    """Loss and AUC on MovieLens-1M over trainings, by both protocols."""
    each = read("ours/table1/trainings").filter(dataset=MOVIES)
    printed = dict(
        read("ours/table1/models")
        .filter(dataset=MOVIES)
        .select("model", "auc_published")
        .iter_rows()
    )
    rows = []
    for row in each.iter_rows(named=True):
        names = ("loss", "auc", None, "test_auc", "test_mrr@5", "test_ndcg@5", "test_hit@5")
        figures = [f"{printed[row['model']] if name is None else row[name]:.4f}" for name in names]
        rows.append(
            [
                MODELS[row["model"]],
                f"{row['epochs']} ({row['best_epoch']})",
                *figures,
                f"{row['seconds']:.0f}",
            ]
        )
    header = [
        "model",
        "epochs (best)",
        "log loss",
        "AUC",
        "published AUC",
        "test auc",
        "mrr@5",
        "ndcg@5",
        "hit@5",
        "seconds",
    ]
    return table(header, rows)


TABLES = {
    function.__name__.replace("_", "-"): function
    for function in (
        figure2,
        figure3,
        figure4,
        figure4_costs,
        figure5,
        figure6,
        fairas,
        sensitivity,
        models,
    )
}
