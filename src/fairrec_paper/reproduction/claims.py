"""What the paper claims, beside what is found here."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from fairrec_paper.reproduction import layout
from fairrec_paper.reproduction.comparison import (
    SUBJECT,
)
from fairrec_paper.reproduction.experiment import Setting
from fairrec_paper.reproduction.layout import OutcomeTable
from fairrec_paper.reproduction.methods import ADAPTIVE, ADAPTIVE_TENTH, DPSO, EXACT, THEMIS
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
