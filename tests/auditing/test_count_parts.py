from __future__ import annotations

from functools import partial
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import fairrec
from fairrec.auditing import count
from fairrec.auditing.count import counted_in_parts
from fairrec.core.errors import InputError
from fairrec.counts.executor import LocalExecutor
from fairrec.inputs.parts.partition import open_parts
from fairrec.inputs.table_options import TableOptions
from fairrec.metrics import METRICS
from tests.counts.small_counts import BY, tables


@pytest.fixture
def stored(tmp_path: Path) -> dict[str, str]:
    return in_files(tmp_path)


def in_files(tmp_path: Path, **about: int) -> dict[str, str]:
    """Predictions and users in files."""
    given = tables(**about)
    for name in ("predictions", "users"):
        given[name].write_parquet(tmp_path / f"{name}.parquet", row_group_size=500)
    return {name: str(tmp_path / f"{name}.parquet") for name in ("predictions", "users")}


def counted(stored, monkeypatch, n_rows, workers=1, **options):
    monkeypatch.setattr(count, "open_parts", partial(open_parts, n_rows=n_rows))
    said = []
    given = {"users": stored["users"], "by": BY, "metrics": "auc,ndcg@5,mrr@8", **options}
    with counted_in_parts(
        stored["predictions"],
        TableOptions.of(**given),
        LocalExecutor(workers),
        {},
        lambda *told: said.append(told),
        per_user=options.pop("per_user", None),
    ) as (counts, parts):
        return counts, len(parts), said


@pytest.mark.parametrize("n_rows", [8, 100, 1000, 100_000])
def test_parts_of_any_size_give_the_counts_of_the_whole(tmp_path, monkeypatch, n_rows):
    # so few that each can be a part
    stored = in_files(tmp_path, n_users=160)
    counts, n_parts, _ = counted(stored, monkeypatch, n_rows)
    assert n_parts >= 140 * 8 / max(n_rows, 8) / 1.5
    whole = fairrec.count(**stored, by=BY, metrics="auc,ndcg@5,mrr@8")
    assert_frame_equal(counts.rows, whole.rows, rel_tol=1e-12)
    assert counts.info == whole.info


def test_the_number_of_workers_changes_no_bit(stored, monkeypatch):
    one, _, _ = counted(stored, monkeypatch, 300)
    three, _, _ = counted(stored, monkeypatch, 300, workers=3)
    assert one.rows.equals(three.rows)


def test_progress_is_told_in_rows(stored, monkeypatch):
    _, _, said = counted(stored, monkeypatch, 1000)
    counting = [told for told in said if "counting" in told[0] and told[2] == 580 * 8]
    assert counting[0][1] == 0
    assert counting[-1][1] == 580 * 8


def test_scattered_rows_are_counted_too(stored, monkeypatch):
    expected, _, _ = counted(stored, monkeypatch, 1000)
    table = pl.read_parquet(stored["predictions"])
    table.sample(fraction=1, shuffle=True, seed=1).write_parquet(stored["predictions"])
    found, _, _ = counted(stored, monkeypatch, 1000)
    assert_frame_equal(found.rows, expected.rows, rel_tol=1e-12)


def test_a_bad_row_in_any_part_is_an_error(stored, monkeypatch):
    table = pl.read_parquet(stored["predictions"])
    broken = table.with_columns(
        score=pl.when(pl.int_range(pl.len()) == 4000).then(float("nan")).otherwise("score")
    )
    broken.write_parquet(stored["predictions"])
    with pytest.raises(InputError, match="score"):
        counted(stored, monkeypatch, 500)


def test_values_of_users_are_written_part_by_part(stored, monkeypatch, tmp_path):
    folder = tmp_path / "users"
    folder.mkdir()
    monkeypatch.setattr(count, "open_parts", partial(open_parts, n_rows=700))
    given = TableOptions.of(users=stored["users"], by=BY, metrics="auc")
    with counted_in_parts(
        stored["predictions"], given, LocalExecutor(1), {}, lambda *told: None, per_user=folder
    ):
        pass
    found = pl.read_parquet(folder / "*.parquet").sort("user_id")
    whole = fairrec.audit(**stored, by=BY, metrics="auc", permutations=0).per_user
    assert len([*folder.iterdir()]) > 2
    assert_frame_equal(found, whole.sort("user_id"))


def test_own_metrics_are_not_known_to_workers_elsewhere(stored):
    @fairrec.metric("first_label")
    def first_label(lists):
        """Label of the first item."""
        return lists.labels(1)[:, 0]

    class Elsewhere:
        threads = 1

    given = TableOptions.of(users=stored["users"], by=BY, metrics="first_label")
    try:
        with (
            pytest.raises(InputError, match="'first_label' is your own"),
            counted_in_parts(stored["predictions"], given, Elsewhere(), {}, lambda *told: None),
        ):
            pass
    finally:
        METRICS.remove("first_label")


def test_metrics_that_are_no_mean_over_users_are_refused_in_parts_too(stored, monkeypatch):
    with pytest.raises(InputError, match="pooled_auc is no mean over users"):
        counted(stored, monkeypatch, 1000, metrics="auc,pooled_auc")
