"""The statements of docs/scale.md, run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import fairrec
from fairrec.counts.merging import split_families
from fairrec.counts.table import read_counts

duckdb = pytest.importorskip("duckdb")
DOCS = Path(__file__).parents[2] / "docs" / "scale.md"
STATEMENTS = re.findall(r"```sql\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
KEYS = ["gender", "age"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder as the statements expect it."""
    monkeypatch.chdir(tmp_path)
    for name in ("predictions", "users"):
        (tmp_path / name).mkdir()
    return tmp_path


def write(folder: Path, n_positive: int, is_tied: bool) -> None:
    rng = np.random.default_rng(n_positive)
    n, length = 700, 12
    labels = np.zeros((n, length))
    for row in labels[10 if n_positive > 1 else 0 :]:
        row[rng.choice(length, n_positive, replace=False)] = 1
    pl.DataFrame(
        {
            "user_id": np.repeat(np.arange(n), length),
            "item_id": np.tile(np.arange(length), n),
            # a few different scores, and one in all of every seventh list
            "score": rng.integers(0, 9, n * length) * (np.arange(n * length) // length % 7 > 0)
            if is_tied
            else rng.permutation(n * length) / 1000,
            "label": labels.ravel(),
        }
    ).write_parquet(folder / "predictions" / "part.parquet")
    pl.DataFrame(
        {
            "user_id": np.arange(n),
            "gender": rng.choice(["F", "M"], n),
            "age": rng.integers(20, 60, n),
        }
    ).write_parquet(folder / "users" / "part.parquet")


def counted(metrics: str) -> fairrec.Counts:
    return fairrec.count("predictions", users="users", by="gender,age:10", metrics=metrics)


def by_value(rows: pl.DataFrame, name: str) -> pl.DataFrame:
    """Counts by attributes and value, whatever levels are called."""
    value = (pl.col(name) / pl.col("users")).round(9).alias("value")
    return (
        rows.filter(pl.col(name).is_not_null())
        .group_by(*KEYS, value)
        .agg(pl.col("users", name, f"{name}^2").sum())
        .sort(*KEYS, "value")
    )


def test_there_are_two_statements():
    assert len(STATEMENTS) == 2


@pytest.mark.parametrize("is_tied", [False, True])
def test_one_relevant_item_a_user(folder, is_tied):
    write(folder, 1, is_tied)
    duckdb.sql(STATEMENTS[0])
    by_sql, ours = read_counts(Path("counts.parquet")), counted("auc,ndcg@10")
    assert ours.info.families == (("auc", "ndcg@10"),)
    for name in ("auc", "ndcg@10"):
        mine = ours.rows.filter(family="auc,ndcg@10")
        assert_frame_equal(by_value(by_sql.rows, name), by_value(mine, name), rel_tol=1e-12)
    users = fairrec.audit("predictions", users="users", by="gender,age:10", metrics="auc,ndcg@10")
    result = fairrec.audit(counts="counts.parquet")
    assert result.summary.n_users == users.summary.n_users == 700
    for name, about in users.metrics.items():
        assert result.metrics[name].mean == pytest.approx(about.mean, rel=1e-12)
        assert result.metrics[name].gap == pytest.approx(about.gap, rel=1e-12)
        assert result.metrics[name].definition == about.definition
        assert result.metrics[name].bounds == about.bounds


@pytest.mark.parametrize("is_tied", [False, True])
def test_any_number_of_relevant_items(folder, is_tied):
    write(folder, 4, is_tied)
    duckdb.sql(STATEMENTS[1])
    by_sql, ours = read_counts(Path("counts.parquet")), split_families(counted("ndcg@10"))
    columns = [*KEYS, "level", "users", "ndcg@10", "ndcg@10^2"]
    mine = ours.rows.filter(family="ndcg@10").select(columns).sort(*KEYS, "level")
    its = by_sql.rows.select(columns).sort(*KEYS, "level")
    assert_frame_equal(its, mine, rel_tol=1e-12)
    result = fairrec.audit(counts="counts.parquet")
    assert result.metrics["ndcg@10"].n_undefined == 10
