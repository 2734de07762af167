"""A bundle on disk is what was written, or it is refused."""

from __future__ import annotations

import json

import polars as pl
import pytest

from fairrec.core.errors import InputError, OutputError
from fairrec.datasets.bundle import read_bundle, write_bundle
from fairrec.datasets.prepare import prepare
from tests.datasets.movielens_tables import write_movielens
from tests.datasets.raw_files import prepared


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
