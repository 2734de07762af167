"""The tables of reproduction.md, from the CSV files of docs/reproduction/."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl
from reproduction_files import (
    FAIRREC,
    METRICS,
    MODELS,
    MOVIES,
    RETAIL,
    SHAPE,
    SHOP,
    SONGS,
    THEMIS,
    TITLES,
    mean,
    places,
    read,
    share,
    spread,
    table,
)

# Table 1 and trainings ---------------------------------------------------------------------------


def table1_trainings() -> str:
    """Loss and AUC on MovieLens-1M over trainings, by both protocols."""
    quality = read("trainings/trainings/quality")
    rows = []
    for model, title in MODELS.items():
        ours, paper = (
            quality.filter(model=model, protocol=name).row(0, named=True)
            for name in ("ours", "paper")
        )
        loss = [spread(row["loss"], row["loss_sd"]) for row in (ours, paper)]
        auc = [spread(row["auc"], row["auc_sd"], 4) for row in (ours, paper)]
        penalised = spread(paper["loss_with_penalty"], paper["loss_with_penalty_sd"])
        rows.append(
            [
                title,
                f"{ours['loss_published']:.3f}",
                *loss,
                penalised,
                f"{ours['auc_published']:.4f}",
                *auc,
            ]
        )
    header = [
        "",
        "loss: published",
        "ours",
        "paper",
        "paper, with penalty",
        "AUC: published",
        "ours",
        "paper",
    ]
    return table(header, rows)


def table1_others() -> str:
    """Loss and AUC of one training on the other data sets."""
    ours, paper = (read(f"{name}/table1/models") for name in ("ours", "paper"))
    rows = []
    for dataset in (SHOP, SONGS, RETAIL):
        for model, title in MODELS.items():
            row = ours.row(
                by_predicate=(pl.col("dataset") == dataset) & (pl.col("model") == model), named=True
            )
            also = paper.filter(dataset=dataset, model=model)
            other = (
                [f"{mean(also, 'loss'):.3f}", f"{mean(also, 'auc'):.3f}"]
                if also.height
                else ["", ""]
            )
            shown = [
                f"{row[name]:.3f}" for name in ("loss_published", "loss", "auc_published", "auc")
            ]
            rows.append([TITLES[dataset], title, *shown[:2], other[0], *shown[2:], other[1]])
    header = ["", "", "loss: published", "ours", "paper", "AUC: published", "ours", "paper"]
    return table(header, rows, 2)


def gaps_of_trainings() -> pl.DataFrame:
    """A row for each protocol, model and metric: gaps over trainings and under chance."""
    published = published_gaps(MOVIES)
    by = ["protocol", "model", "metric"]
    each = read("trainings/trainings/gaps").join(
        read("trainings/trainings/chance"), on=[*by, "training"], how="left"
    )
    rows = each.group_by(by, maintain_order=True).agg(
        pl.col("gap", "chance_mean", "chance_sd").mean(),
        gap_sd=pl.col("gap").std(),
        significant=(pl.col("p_value") <= 0.05).sum(),
        trainings=pl.len(),
    )
    return rows.join(published, on=["model", "metric"], how="left", maintain_order="left")


def published_gaps(dataset: str) -> pl.DataFrame:
    """`model, metric, published`: the exact gaps that the paper prints."""
    gaps = read(f"ours/table2/gaps-{dataset}").filter(method=THEMIS)
    return gaps.select("model", "metric", "published")


def trainings_gaps() -> str:
    """Exact gaps on MovieLens-1M over trainings beside those of chance."""
    rows = gaps_of_trainings()
    shown = []
    for model, title in MODELS.items():
        for metric in METRICS:
            both = [
                rows.filter(model=model, metric=metric, protocol=name).row(0, named=True)
                for name in ("ours", "paper")
            ]
            digits = places(metric)
            line = [title, metric, f"{both[0]['published']:.{digits}f}"]
            for row in both:
                chance, n = row["chance_mean"], f"{row['significant']} of {row['trainings']}"
                line += [spread(row["gap"], row["gap_sd"], digits)]
                line += (
                    ["", ""] if chance is None else [spread(chance, row["chance_sd"], digits), n]
                )
            shown.append(line)
    one = ["chance", "p <= 0.05"]
    return table(["", "metric", "published", "ours", *one, "paper", *one], shown, 2)


def over_models(protocol: str, metric: str) -> np.ndarray:
    """The gap of each training, in the mean over models."""
    each = read("trainings/trainings/gaps").filter(protocol=protocol, metric=metric)
    return each.group_by("training").agg(pl.col("gap").mean()).sort("training")["gap"].to_numpy()


def protocols_beside() -> str:
    """Gaps by both protocols beside the published ones, in the mean over models."""
    published, rows = published_gaps(MOVIES), []
    summary = gaps_of_trainings()
    for metric in METRICS:
        at = mean(published.filter(metric=metric), "published")
        line = [metric, f"{at:.{places(metric)}f}"]
        for protocol in ("ours", "paper"):
            gaps = over_models(protocol, metric)
            line += [
                spread(gaps.mean(), gaps.std(ddof=1), places(metric)),
                f"{at / gaps.mean():.2f}",
            ]
            # pooled AUC is no mean over users, so its chance was not drawn: that of auc is near
            own = summary.filter(protocol=protocol, metric=metric.removeprefix("pooled_"))
            by_chance = f"{gaps.mean() / mean(own, 'chance_mean'):.2f}"
            line.append("" if metric == "pooled_auc" else by_chance)
            line.append(f"{abs(at - gaps.mean()) / mean(own, 'chance_sd'):.1f}")
        rows.append(line)
    beside = ["published / it", "it / chance", "apart, in sd of chance"]
    return table(["metric", "published", "ours", *beside, "paper", *beside], rows)


def training_share() -> str:
    """Spread of gaps over trainings, under chance and between models."""
    rows = []
    summary = gaps_of_trainings().filter(pl.col("metric") != "pooled_auc")
    for metric in (name for name in METRICS if name != "pooled_auc"):
        line = [metric]
        for protocol in ("ours", "paper"):
            own = summary.filter(protocol=protocol, metric=metric)
            between = float(own["gap"].to_numpy().std(ddof=1))
            sds = [mean(own, "gap_sd"), mean(own, "chance_sd"), between]
            line += [f"{sd:.{places(metric)}f}" for sd in sds]
        rows.append(line)
    each = ["sd over trainings", "sd under chance", "sd between models"]
    return table(
        [
            "metric",
            *(
                f"{name}: {each[0]}" if not at else each[at]
                for name in ("ours", "paper")
                for at in range(3)
            ),
        ],
        rows,
    )


# Table 2 -----------------------------------------------------------------------------------------


def cost_rows(folder: str, dataset: str) -> pl.DataFrame:
    """Means over models for each method; TestSGD as larger and smaller theta."""
    costs = read(f"{folder}/table2/costs-{dataset}")
    columns = (
        "accuracy",
        "accuracy_sd",
        "share",
        "combinations",
        "users_together",
        "seconds",
        "published_accuracy",
    )
    return costs.group_by("method", maintain_order=True).agg(
        pl.col(*columns).cast(pl.Float64).mean()
    )


def cost_row(folder: str, dataset: str, method: str) -> dict[str, float]:
    """The means over models for one method."""
    return cost_rows(folder, dataset).filter(method=method).row(0, named=True)


METHOD_ROWS = {
    THEMIS: 0,
    "TestSGD, larger theta": 1,
    "TestSGD, smaller theta": 2,
    "FairRec (`dpso`)": 3,
    "FairAS (`fairas`)": 4,
    "ours, `adaptive`": 6,
    "ours, `adaptive`, at most 10% of users": 7,
}
"""At which place of the files each method stands; 5 is the exact pass over everyone."""
CLAIMS = {
    "significant gaps (p <= 0.05)": "significant gaps (p <= 0.05)",
    "FairRec nearer to the exact gap than TestSGD": "FairRec nearer than TestSGD",
    "users scored by FairRec for one metric, of Themis'": "FairRec's users, one metric, of Themis'",
    "users scored by FairRec for all metrics, of Themis'": "FairRec's users, all metrics",
    "combinations queried by FairRec for one metric, of Themis'": "FairRec's combinations",
    "time of FairRec, of Themis'": "FairRec's seconds",
}


def _accuracy_table(places_of: Iterable[tuple[str, str, str]]) -> str:
    columns = list(places_of)
    rows = []
    for title, at in METHOD_ROWS.items():
        line = [title]
        for folder, dataset, _ in columns:
            row = cost_rows(folder, dataset).row(at, named=True)
            varies = row["accuracy_sd"] > 5e-4
            found = share(row["accuracy"], 1) + (
                f" ±{100 * row['accuracy_sd']:.1f}" if varies else ""
            )
            printed = row["published_accuracy"]
            found += "" if printed is None or title == THEMIS else f" ({share(printed, 1)})"
            line.append(f"{found}, {share(row['share'])}")
        rows.append(line)
    for claim, title in CLAIMS.items():
        line = [title]
        for folder, dataset, _ in columns:
            row = (
                read(f"{folder}/table2/claims")
                .filter(dataset=dataset, claim=claim)
                .row(0, named=True)
            )
            printed = "" if row["published"] == "'-" else f" ({row['published']})"
            line.append(f"{row['here']}{printed}")
        rows.append(line)
    return table(["", *(title for *_, title in columns)], rows)


def table2_accuracy() -> str:
    """What each method finds and pays, by our protocol."""
    real = [("ours", dataset, title) for dataset, title in TITLES.items()]
    return _accuracy_table([*real, ("shape", SONGS, SHAPE)])


def table2_paper() -> str:
    """The same by the protocol of the paper."""
    return _accuracy_table(
        [("paper", dataset, TITLES[dataset]) for dataset in (MOVIES, SHOP, SONGS)]
    )


def table2_gaps() -> str:
    """Exact gaps of the other data sets, mean over models."""
    rows = []
    for dataset in (SHOP, SONGS, RETAIL):
        folders = ("ours",) if dataset == RETAIL else ("ours", "paper")
        files = [
            read(f"{folder}/table2/gaps-{dataset}").filter(method=THEMIS) for folder in folders
        ]
        for metric in METRICS:
            found = [file.filter(metric=metric) for file in files]
            line, digits = [], places(metric)
            for own in (*found, pl.DataFrame())[:2]:
                has_chance = own.height and metric != "pooled_auc"
                line.append(f"{mean(own, 'gap'):.{digits}f}" if own.height else "")
                line.append(f"{mean(own, 'chance_mean'):.{digits}f}" if has_chance else "")
            if any(line):
                printed = mean(next(own for own in found if own.height), "published")
                rows.append([TITLES[dataset], metric, f"{printed:.{digits}f}", *line])
    return table(["", "metric", "published", "ours", "chance", "paper", "chance"], rows, 2)


# Tables 3 and 7 ----------------------------------------------------------------------------------

LIMITED = (
    ("ours/table3", "ours", MOVIES, TITLES[MOVIES]),
    ("ours/table3-appendix", "ours", SHOP, TITLES[SHOP]),
    ("ours/table3", "ours", SONGS, TITLES[SONGS]),
    ("ours/table3-appendix", "ours", RETAIL, TITLES[RETAIL]),
    ("shape/table3", "shape", SONGS, SHAPE),
)
LIMITED_ROWS = (
    "Themis, in random order",
    "TestSGD, larger theta",
    "TestSGD, smaller theta",
    "FairRec (`dpso`)",
    "FairAS (`fairas`)",
    "ours, `adaptive`",
)


def limit(folder: str, of: str, dataset: str) -> tuple[int, int]:
    """Combinations that may be queried, and all of them."""
    allowed = read(f"{folder}/combinations-{dataset}").row(0, named=True)["combinations"]
    return int(allowed), int(cost_row(of, dataset, THEMIS)["combinations"])


def table3_users() -> str:
    """Accuracy within a limit in users, and how often FairRec leads."""
    heads = []
    for folder, of, dataset, title in LIMITED:
        allowed, total = limit(folder, of, dataset)
        # who scored everyone before the limit has scored less than it
        scored = read(f"{folder}/leads-{dataset}").row(0, named=True)["share"]
        heads.append(f"{title}, {share(max(allowed / total, scored))}")
    rows = []
    for at, title in enumerate(LIMITED_ROWS):
        line = [title]
        for folder, _, dataset, _ in LIMITED:
            row = read(f"{folder}/leads-{dataset}").row(at, named=True)
            printed = row["published_accuracy"]
            line.append(
                share(row["accuracy"]) + ("" if printed is None else f" ({share(printed)})")
            )
        rows.append(line)
    line = ["FairRec has the largest gap of the paper's methods"]
    for folder, _, dataset, title in LIMITED:
        row = read(f"{folder}/leads-{dataset}").filter(method=FAIRREC).row(0, named=True)
        line.append(
            share(row["leads"]) + ("" if title == SHAPE else f" ({share(row['published_leads'])})")
        )
    return table(["", *heads], [*rows, line])


def table3_combinations() -> str:
    """Accuracy within a limit in combinations, empty ones too."""
    heads, rows = [], [[title] for title in LIMITED_ROWS[:5]]
    for folder, of, dataset, title in LIMITED:
        allowed, total = limit(folder, of, dataset)
        heads.append(f"{title}, {allowed:,} of {total:,}")
        for row, line in zip(
            read(f"{folder}/combinations-{dataset}").iter_rows(named=True), rows, strict=True
        ):
            error = 100 * row["accuracy_sd"]
            found = share(row["accuracy"], 1) + (f" ±{error:.1f}" if error > 0.05 else "")
            line.append(f"{found}; {row['users']:,.0f} users")
    return table(["", *heads], rows)


# Tables 4 to 6 -----------------------------------------------------------------------------------


def _mitigation(dataset: str) -> str:
    each = read(f"ours/table-mitigation/gaps-{dataset}")
    rows, pair = [], "{:.{d}f} to {:.{d}f}"
    for (metric, way, reranker), own in each.group_by(
        "metric", "way", "reranker", maintain_order=True
    ):
        d = places(str(metric))
        levels = [f"{mean(own, name):.{d}f}" for name in ("chosen_by", "before", "after")]
        groups, gaps, gaps_published = (
            pair.format(mean(own, first), mean(own, second), d=d)
            for first, second in (
                ("published_before", "published_after"),
                ("gap_before", "gap_after"),
                ("published_gap_before", "published_gap_after"),
            )
        )
        is_better = (own["p_change"] <= 0.05).sum()
        rows.append(
            [
                str(metric),
                f"{way}",
                f"`{reranker}`",
                *levels,
                f"{is_better} of {own.height}",
                groups,
                gaps,
                gaps_published,
            ]
        )
    header = [
        "metric",
        "chosen on",
        "re-ranker",
        "groups where chosen",
        "before",
        "after",
        "significant",
        "published",
        "gap",
        "published",
    ]
    rows = [[row[0], row[1].removeprefix("chosen on "), *row[2:]] for row in rows]
    return table(header, rows, 3)


def table4_movielens() -> str:
    """Mitigation on MovieLens-1M."""
    return _mitigation(MOVIES)


def table4_retail() -> str:
    """Mitigation on Online Retail."""
    return _mitigation(RETAIL)


def table5() -> str:
    """Gaps by more and more attributes."""
    rows = []
    for dataset in (MOVIES, SHOP):
        each = read(f"ours/table-attributes/attributes-{dataset}").filter(model="wide_deep")
        for (attributes,), own in each.group_by("attributes", maintain_order=True):
            names = str(attributes)
            shown = (
                f"{TITLES[dataset]}: {names}"
                if names.count(",") == 0
                else f"+ {names.rsplit(', ', maxsplit=1)[-1]}"
            )
            line = [shown, str(own["n_groups"][0])]
            for metric in ("auc", "mrr@5", "urd@5", "urp@5"):
                row = own.filter(metric=metric).row(0, named=True)
                times = f"{row['times_chance']:.1f}"
                times = f"**{times}**" if row["p_value"] <= 0.05 else times
                line.append(f"{row['gap']:.3f} ({row['published']:.3f}), {times}")
            rows.append(line)
    return table(["", "groups", "auc", "mrr@5", "urd@5", "urp@5"], rows)


TABLES = {
    function.__name__.replace("_", "-"): function
    for function in (
        table1_trainings,
        table1_others,
        trainings_gaps,
        protocols_beside,
        training_share,
        table2_accuracy,
        table2_paper,
        table2_gaps,
        table3_users,
        table3_combinations,
        table4_movielens,
        table4_retail,
        table5,
    )
}
