"""Reading the CSV files of docs/reproduction/, and writing figures and tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import polars as pl

FILES = Path(__file__).parent / "reproduction"
MOVIES, SONGS, SHOP, RETAIL = "movielens-1m", "lfm360k", "blackfriday", "amazon-electronics"
TITLES = {
    MOVIES: "MovieLens-1M",
    SHOP: "BlackFriday",
    SONGS: "LFM360K, 722 users",
    RETAIL: "Online Retail (Amazon)",
}
SHAPE = "LFM360K shape"
MODELS = {"wide_deep": "Wide&Deep", "deepfm": "DeepFM", "dcn": "DCN", "fgcnn": "FGCNN"}
METRICS = ("auc", "pooled_auc", "mrr@5", "ndcg@5", "urd@5", "urp@5")
FAIRREC, FAIRAS, THEMIS = "FairRec (dpso)", "FairAS (fairas)", "Themis"
TEN_ROUNDS = "FairAS, 10 rounds"
Rows = Iterable[Iterable[str]]


def read(name: str) -> pl.DataFrame:
    """A CSV file of docs/reproduction/, by its path there."""
    return pl.read_csv(FILES / f"{name}.csv", infer_schema_length=None)


def table(header: Iterable[str], rows: Rows, n_text: int = 1) -> str:
    """A Markdown table; the first columns are text, the others figures."""
    header = list(header)
    rule = ["---" if at < n_text else "---:" for at in range(len(header))]
    lines = [f"| {' | '.join(header)} |", f"|{'|'.join(rule)}|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


def share(value: float, digits: int = 0) -> str:
    """A share in percent."""
    return f"{value:.{digits}%}"


def spread(value: float, sd: float | None, digits: int = 3) -> str:
    """A figure with its standard deviation."""
    return f"{value:.{digits}f}" + ("" if sd is None else f" ±{sd:.{digits}f}")


def places(metric: str) -> int:
    """Digits that a gap of this metric is shown with."""
    return 4 if metric.startswith("urp") else 3


def mean(rows: pl.DataFrame, column: str) -> float:
    """The mean of a column."""
    return float(rows[column].to_numpy().mean())
