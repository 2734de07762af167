"""What the paper claims and its pages say, beside what is found here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from fairrec_paper.reproduction import layout
from fairrec_paper.reproduction.comparison import (
    SUBJECT,
    published,
    published_gaps,
    published_seconds,
)
from fairrec_paper.reproduction.data import TITLES
from fairrec_paper.reproduction.experiment import Setting
from fairrec_paper.reproduction.layout import OutcomeTable
from fairrec_paper.reproduction.methods import ADAPTIVE, ADAPTIVE_TENTH, DPSO, EXACT, THEMIS, THETAS
from fairrec_paper.reproduction.search_trials import POOLED

ALPHA = 0.05

GapsAndCosts = tuple[str, pl.DataFrame, pl.DataFrame]
"""A data set, its gaps and its costs."""


def claims_table(setting: Setting, parts: Sequence[GapsAndCosts]) -> OutcomeTable:
    """A row for each data set and claim."""
    rows = [
        {"dataset": dataset, "data": setting.title_of(dataset), "claim": claim, **values}
        for dataset, gaps, spent in parts
        for claim, values in _claims(gaps, spent).items()
    ]
    data = pl.DataFrame(rows)
    columns: list[layout.Column] = [
        ("data", layout.text("data")),
        ("claim", layout.text("claim")),
        ("published", layout.text("published")),
        ("here", layout.text("here")),
    ]
    note = (
        "Published figures are computed from the paper's own table, over the models compared here. "
        "Times are those of all metrics together; all ratios are means over models."
    )
    title = f"The paper's claims: {setting.title}"
    return layout.table("claims", title, data, columns, note, 4)


def _claims(gaps: pl.DataFrame, spent: pl.DataFrame) -> dict[str, dict[str, str]]:
    over_models = spent.group_by("method", maintain_order=True).agg(
        pl.col("accuracy", "published_accuracy", "share").mean()
    )
    by_method = {row["method"]: row for row in over_models.to_dicts()}
    against = _against_themis(spent)
    nearest = _nearest(gaps)
    claims = {
        "mean accuracy of FairRec": {
            "published": _percent(by_method[DPSO.title]["published_accuracy"]),
            "here": _percent(by_method[DPSO.title]["accuracy"]),
        },
        "time of FairRec, of Themis'": {
            "published": _percent(against[DPSO.title]["published_time"]),
            "here": _percent(against[DPSO.title]["time"]),
        },
        "users scored by FairRec for one metric, of Themis'": {
            "published": "-",
            "here": _percent(against[DPSO.title]["users_of_one"]),
        },
        "users scored by FairRec for all metrics, of Themis'": {
            "published": "-",
            "here": _percent(against[DPSO.title]["users"]),
        },
        "combinations queried by FairRec for one metric, of Themis'": {
            "published": "-",
            "here": _percent(against[DPSO.title]["combinations"]),
        },
        "FairRec nearer to the exact gap than TestSGD": {
            "published": nearest["published"],
            "here": nearest["here"],
        },
        "methods from the most accurate": {
            "published": _ranking(by_method, "published_accuracy"),
            "here": _ranking(by_method, "accuracy"),
        },
        "significant gaps (p <= 0.05)": {
            "published": "-",
            "here": _significant(gaps),
        },
    }
    for method in (EXACT, ADAPTIVE, ADAPTIVE_TENTH):
        cost = against[method.title]
        claims[f"{method.title}: accuracy; time and users, of Themis'"] = {
            "published": "-",
            "here": f"{_percent(by_method[method.title]['accuracy'])}; {_percent(cost['time'])} "
            f"and {_percent(cost['users'])}",
        }
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


def _nearest(gaps: pl.DataFrame) -> dict[str, str]:
    """In how many cases FairRec has found at least as much as both forms of TestSGD."""
    cases = gaps.filter(pl.col("metric") != POOLED)
    is_fairrec = pl.col("method") == DPSO.title
    is_testsgd = pl.col("method").str.starts_with("TestSGD")
    shares = {}
    for name, column in (("here", "accuracy"), ("published", "published_accuracy")):
        counted = (
            cases.group_by(*SUBJECT, "metric")
            .agg(
                ours=pl.col(column).filter(is_fairrec).max(),
                other=pl.col(column).filter(is_testsgd).max(),
            )
            .drop_nulls()
        )
        won = int((counted["ours"] >= counted["other"]).sum())
        shares[name] = f"{won} of {counted.height}" if counted.height else "-"
    return shares


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
