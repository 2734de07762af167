"""A file that is not of the result beside it is refused, wherever it comes from."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import fairrec
from fairrec.core.errors import InputError
from fairrec.core.files import file_sum
from fairrec.result.run_file import load_audit_run
from fairrec.result.saved import load_groups, load_saved
from tests.builders import audit, two_groups, without_sums
from tests.mitigation.planted import mitigate, planted

OTHER = "is not the file that was written with the result.json beside it"


@pytest.fixture
def two(tmp_path: Path) -> list[Path]:
    """Two audits of the same users, whose numbers fit each other's."""
    results = [audit(*two_groups(), by="group", seed=seed) for seed in (1, 2)]
    return [one.save(tmp_path / f"{at}", report=False) for at, one in enumerate(results)]


def test_the_files_of_a_result_are_named_with_their_checksums(two):
    written = json.loads((two[0] / "result.json").read_text())["files"]
    assert [*written] == ["groups.parquet", "per_user.parquet"]
    for name, checksum in written.items():
        assert file_sum(two[0] / name) == checksum
    run = load_audit_run(two[0])
    assert run.files == {"result.json": file_sum(two[0] / "result.json")}


@pytest.mark.parametrize("name", ["groups.parquet", "run.json", "result.json"])
def test_a_file_of_another_audit_is_refused(two, name):
    shutil.copy(two[1] / name, two[0])
    with pytest.raises(InputError, match=OTHER):
        fairrec.load(two[0])


def test_users_of_another_audit_are_refused_though_they_are_as_many(two):
    file = two[0] / "per_user.parquet"
    table = pl.read_parquet(file)
    table.with_columns(pl.col("group").reverse()).write_parquet(file)
    with pytest.raises(InputError, match=rf"per_user.parquet: {OTHER}.*audit again"):
        fairrec.load(two[0])
    # only the checksum tells
    assert fairrec.load(without_sums(two[0])).per_user.height == table.height


def test_results_without_checksums_are_read(two):
    before = fairrec.load(two[0])
    assert fairrec.load(without_sums(two[0])).summary == before.summary
    # and a run that is set aside is missed by nobody
    (two[1] / "run.json").unlink()
    assert fairrec.load(two[1]).run is None


def test_a_result_replaced_while_it_is_read_is_refused(two):
    _, sums = load_saved(two[0])
    for file in two[1].iterdir():
        shutil.copy(file, two[0])
    with pytest.raises(InputError, match=OTHER):
        load_groups(two[0], sums)
    with pytest.raises(InputError, match=rf"run.json: {OTHER}"):
        load_audit_run(two[0], sums)


def test_a_table_of_users_in_parts_is_vouched_for_by_the_run(tmp_path):
    whole = audit(*two_groups(), by="group")
    in_parts = replace(whole, per_user=None, per_user_parts=whole.per_user.lazy())
    folder = in_parts.save(tmp_path / "out", report=False)
    # the numbers are those of the same audit in one piece, so result.json tells nothing of parts
    assert [*json.loads((folder / "result.json").read_text())["files"]] == ["groups.parquet"]
    file = folder / "per_user.parquet"
    assert load_audit_run(folder).files["per_user.parquet"] == file_sum(file)
    assert fairrec.load(folder).per_user.equals(whole.per_user)
    whole.per_user.with_columns(pl.col("group").reverse()).write_parquet(file)
    with pytest.raises(InputError, match=OTHER):
        fairrec.load(folder)
    (folder / "run.json").unlink()
    assert fairrec.load(folder).per_user.height == whole.per_user.height


@pytest.mark.parametrize(
    "name",
    ["mitigation.json", "reranker.json", "changes.parquet", "predictions.parquet", "result.json"],
)
def test_a_file_of_another_mitigation_is_refused(tmp_path, name):
    one, other = (
        mitigate(planted(), "ndcg@5", strength=strength).save(
            tmp_path / str(strength), report=False
        )
        for strength in (0.2, 0.6)
    )
    assert fairrec.load(one).summary.strength == 0.2
    assert (one / name).read_bytes() != (other / name).read_bytes()
    shutil.copy(other / name, one)
    with pytest.raises(InputError, match=OTHER):
        fairrec.load(one)


def test_a_mitigation_beside_an_audit_of_other_lists_is_refused(two, tmp_path):
    made = mitigate(planted(), "ndcg@5").save(tmp_path / "made", report=False)
    shutil.copy(made / "mitigation.json", two[0])
    with pytest.raises(InputError, match=rf"mitigation.json: {OTHER}"):
        fairrec.load(two[0])


def test_the_same_mitigation_has_the_same_bytes(tmp_path):
    kept = [
        mitigate(planted(), "ndcg@5").save(tmp_path / name, report=False) / "result.json"
        for name in ("one", "two")
    ]
    assert kept[0].read_bytes() == kept[1].read_bytes()
