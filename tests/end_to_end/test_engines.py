"""A table that is counted in parts gives the same bits, whoever works on them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from fairrec.auditing.count import CountPart, count_in_parts
from fairrec.counts.executor import PartExecutor, open_executor
from fairrec.counts.options import EngineOptions
from fairrec.inputs.parts.partition import open_parts

N_USERS, N_CANDIDATES = 40_000, 8
SAID = {"by": "gender", "metrics": "auc,ndcg@5"}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    users = {
        "user_id": np.arange(N_USERS),
        "gender": rng.choice(["F", "M"], N_USERS),
    }
    n_rows = N_USERS * N_CANDIDATES
    rows = {
        "user_id": np.arange(N_USERS).repeat(N_CANDIDATES),
        "item_id": np.tile(np.arange(N_CANDIDATES), N_USERS),
        "score": rng.normal(size=n_rows),
        "label": (rng.random(n_rows) < 0.2).astype(np.int64),
    }
    files = {"users": folder / "users.parquet", "predictions": folder / "predictions.parquet"}
    pl.DataFrame(users).write_parquet(files["users"])
    pl.DataFrame(rows).write_parquet(files["predictions"], row_group_size=20_000)
    return files


def counted(tables: dict[str, Path], executor: PartExecutor, folder: Path) -> pl.DataFrame:
    told: list[int] = []
    by = {"by": SAID["by"]}
    with open_parts(
        tables["predictions"], users=tables["users"], n_rows=80_000, folder=folder, **by
    ) as parts:
        assert len([*parts]) > 3
        counting = CountPart(SAID, {}, executor.threads)
        counts = count_in_parts(parts, counting, executor, lambda _, done, total: told.append(done))
        assert told[-1] == parts.n_rows == N_USERS * N_CANDIDATES
    return counts.rows


@pytest.fixture(scope="module")
def here(tables: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    with open_executor(EngineOptions()) as executor:
        return counted(tables, executor, tmp_path_factory.mktemp("here"))


@pytest.fixture(params=["again", "two at once", pytest.param("ray", marks=pytest.mark.slow)])
def other(request: pytest.FixtureRequest) -> Iterator[PartExecutor]:
    if request.param == "ray":
        pytest.importorskip("ray", reason="Ray is not installed: it is an extra")
    options = {
        "again": EngineOptions(),
        "two at once": EngineOptions(workers=2),
        "ray": EngineOptions(engine="ray", workers=2),
    }
    with open_executor(options[request.param]) as executor:
        yield executor


def test_counts_are_the_same_bit_by_bit(tables, here, other, tmp_path):
    assert here.equals(counted(tables, other, tmp_path))
