"""Table 1 of reproduction.md, and gaps on MovieLens-1M by protocol, training and chance."""

from __future__ import annotations

import numpy as np
import polars as pl
from reproduction_files import (
    METRICS,
    MODELS,
    MOVIES,
    RETAIL,
    SHOP,
    SONGS,
    THEMIS,
    TITLES,
    mean,
    places,
    read,
    spread,
    table,
)


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
    each = read("trainings/trainings/gaps")
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


TABLES = {
    function.__name__.replace("_", "-"): function
    for function in (
        table1_trainings,
        table1_others,
        trainings_gaps,
        protocols_beside,
        training_share,
    )
}
