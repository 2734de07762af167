"""What the text of the paper says, and what its own tables say: a table of deviations.md."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from fairrec_paper.reproduction.data import TITLES
from fairrec_paper.reproduction.gaps import published, published_gaps, published_seconds
from fairrec_paper.reproduction.methods import THETAS

CASE = ["dataset", "model", "metric"]


class Said(NamedTuple):
    """A claim of the text: as it stands there, and recomputed from the published tables."""

    claim: str
    text: str
    tables: str


def said() -> list[Said]:
    """All claims of the text that its tables can be held against."""
    accuracy = _accuracies()
    by_kind = {kind: _mean(accuracy, kind=kind) for kind in ("fairrec", "larger", "smaller")}
    limited = pl.concat([published_gaps("table3"), published_gaps("table3-appendix")])
    return [
        Said("mean accuracy of FairRec", "~95%", _whole_percent(by_kind["fairrec"])),
        Said(
            "on MovieLens, LFM360K, BlackFriday, Amazon",
            "95.27%, 97.37%, 92.38%, 92.83%",
            ", ".join(
                _whole_percent(_mean(accuracy, kind="fairrec", dataset=name)) for name in TITLES
            ),
        ),
        Said("FairRec is the nearest to Themis", "~90% of cases", _nearest_published(accuracy)),
        Said(
            "mean accuracy of TestSGD, larger and smaller theta",
            "43%, 94%",
            f"{_whole_percent(by_kind['larger'])}, {_whole_percent(by_kind['smaller'])}",
        ),
        Said(
            "largest gap in limited time: FairRec, Themis, TestSGD",
            "79%, 62%, 55%",
            _leads(limited),
        ),
        Said("a limited search finds no more than an unlimited one", "implied", _above(limited)),
        Said("time of FairRec, of Themis'", "half to 1/8", _times()),
        Said(
            "MRR and AUC gaps are negatively correlated", "on all four data sets", _correlations()
        ),
        Said("MRR after mitigation, MovieLens, Wide&Deep", "+87.72%", _mitigated("mrr@5")),
        Said("URP after mitigation, Amazon, DeepFM", "-29.79%", _mitigated("urp@5")),
    ]


def _accuracies() -> pl.DataFrame:
    """`dataset, model, metric, kind, accuracy` of Table 2: gaps as shares of Themis'."""
    gaps = published_gaps("table2")
    exact = gaps.filter(method="themis").select(*CASE, exact="published")
    larger = {name: f"testsgd {max(thetas):g}" for name, thetas in THETAS.items()}
    is_larger = pl.col("method") == pl.col("dataset").replace_strict(larger)
    return (
        gaps.filter(pl.col("method") != "themis")
        .join(exact, on=CASE)
        .select(
            *CASE,
            kind=pl.when(pl.col("method") == "fairrec")
            .then(pl.lit("fairrec"))
            .when(is_larger)
            .then(pl.lit("larger"))
            .otherwise(pl.lit("smaller")),
            accuracy=pl.col("published") / pl.col("exact"),
        )
    )


def _mean(accuracy: pl.DataFrame, **which: str) -> float:
    return float(accuracy.filter(**which)["accuracy"].to_numpy().mean())


def _nearest_published(accuracy: pl.DataFrame) -> str:
    best = pl.col("accuracy").max().over(CASE)
    is_best = accuracy.with_columns(is_best=pl.col("accuracy") >= best).filter(kind="fairrec")
    return _whole_percent(float(is_best["is_best"].to_numpy().mean()))


def _leads(limited: pl.DataFrame) -> str:
    """In how many cases each finds the largest gap; TestSGD with either theta."""
    best = pl.col("published").max().over(CASE)
    leads = limited.filter(pl.col("published") >= best * (1 - 1e-12))
    n_cases = limited.select(CASE).n_unique()
    shares = [
        leads.filter(pl.col("method").str.starts_with(name)).select(CASE).n_unique() / n_cases
        for name in ("fairrec", "themis", "testsgd")
    ]
    return ", ".join(map(_whole_percent, shares))


def _above(limited: pl.DataFrame) -> str:
    both = limited.join(published_gaps("table2"), on=[*CASE, "method"], suffix="_unlimited")
    is_above = pl.col("published") > pl.col("published_unlimited") * (1 + 1e-12)
    return f"{both.filter(is_above).height:,} of {both.height:,} cells are above"


def _times() -> str:
    seconds = published_seconds("table2")
    themis = seconds.filter(method="themis")
    both = seconds.filter(method="fairrec").join(themis, on=["dataset", "model"], suffix="_themis")
    ratios = both.with_columns(ratio=pl.col("published_seconds") / both["published_seconds_themis"])
    return ", ".join(
        _whole_percent(float(ratios.filter(dataset=name)["ratio"].to_numpy().mean()))
        for name in TITLES
    )


def _correlations() -> str:
    gaps = published_gaps("table2").filter(method="themis")
    found = []
    for name in TITLES:
        auc, mrr = (
            gaps.filter(dataset=name, metric=metric).sort("model")["published"].to_numpy()
            for metric in ("auc", "mrr@5")
        )
        found.append(f"{np.corrcoef(auc, mrr)[0, 1]:.2f}")
    return ", ".join(found)


def _mitigated(metric: str) -> str:
    where = {
        "mrr@5": {"dataset": "movielens-1m", "model": "wide_deep"},
        "urp@5": {"dataset": "amazon-electronics", "model": "deepfm"},
    }[metric]
    rows = published().filter(label="Table 4", metric=metric, **where)
    value = dict(rows.select("method", "printed").iter_rows())
    after, before = (value[f"disadvantaged groups, {when}"] for when in ("mitigated", "original"))
    return f"{100 * (after / before - 1):+.1f}%"


def _whole_percent(share: float) -> str:
    return f"{100 * share:.1f}%"
