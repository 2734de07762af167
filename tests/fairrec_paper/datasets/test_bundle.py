"""A bundle on disk is what was written, or it is refused."""

from __future__ import annotations

import json
from dataclasses import replace

import polars as pl
import pytest

from fairrec.core.errors import InputError, OutputError
from fairrec_paper.datasets.bundle import prepare, read_bundle, write_bundle
from tests.fairrec_paper.datasets.movielens_tables import write_movielens
from tests.fairrec_paper.datasets.raw_files import prepared


@pytest.fixture
def raw(tmp_path):
    return write_movielens(tmp_path / "raw")


def test_a_bundle_written_again_is_the_same(raw, tmp_path):
    bundle = prepared("movielens-1m", raw, tmp_path / "bundle")
    manifest = write_bundle(bundle, tmp_path / "again")
    again = read_bundle(tmp_path / "again")
    assert again.manifest == manifest == bundle.manifest
    assert again.interactions.equals(bundle.interactions)
    assert again.users.equals(bundle.users)
    assert again.items.equals(bundle.items)


@pytest.mark.parametrize("table", ["interactions", "users", "items"])
def test_a_changed_table_is_refused(raw, tmp_path, table):
    prepare("movielens-1m", raw, tmp_path / "bundle")
    file = tmp_path / "bundle" / f"{table}.parquet"
    pl.read_parquet(file).head(1).write_parquet(file)
    with pytest.raises(InputError, match=rf"{table}\.parquet: is missing or not what was prepared"):
        read_bundle(tmp_path / "bundle")


def test_a_changed_manifest_is_refused(raw, tmp_path):
    prepare("movielens-1m", raw, tmp_path / "bundle")
    file = tmp_path / "bundle" / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "surprise": 1}))
    with pytest.raises(InputError, match=r"manifest\.json: is no manifest of this version"):
        read_bundle(tmp_path / "bundle")


def test_tables_of_others_are_not_replaced_by_a_bundle(raw, tmp_path):
    bundle = prepared("movielens-1m", raw, tmp_path / "bundle")
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "users.parquet").write_text("mine")
    for write in (
        lambda: write_bundle(bundle, theirs),
        lambda: prepare("movielens-1m", raw, theirs),
    ):
        with pytest.raises(OutputError, match=r"theirs: users.parquet there is of no bundle of"):
            write()
    assert (theirs / "users.parquet").read_text() == "mine"
    # an older one is, whatever it holds
    write_bundle(bundle, tmp_path / "bundle")


@pytest.mark.parametrize(
    ("table", "change", "says"),
    [
        ("interactions", {"time": pl.lit("noon")}, "'time' is String there"),
        ("interactions", {"is_positive": pl.lit(1)}, "'is_positive' is Int32 there"),
        ("users", {"gender": pl.lit([1])}, "'gender' is List"),
        ("users", {"user_id": pl.lit(1)}, "user_id is empty or there twice"),
        ("items", {"categories": pl.lit("drama")}, "'categories' is String there"),
    ],
)
def test_tables_of_other_columns_are_refused_though_their_checksums_fit(
    raw, tmp_path, table, change, says
):
    bundle = prepared("movielens-1m", raw, tmp_path / "bundle")
    other = replace(bundle, **{table: getattr(bundle, table).with_columns(**change)})
    write_bundle(other, tmp_path / "other")
    with pytest.raises(InputError, match=says):
        read_bundle(tmp_path / "other")


@pytest.mark.parametrize("content", [b"\xff", b"[" * 100_000, b""])
def test_a_manifest_that_is_none_is_refused(raw, tmp_path, content):
    prepare("movielens-1m", raw, tmp_path / "bundle")
    (tmp_path / "bundle" / "manifest.json").write_bytes(content)
    with pytest.raises(InputError, match=r"manifest\.json: is no manifest of this version"):
        read_bundle(tmp_path / "bundle")
