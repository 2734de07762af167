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
from fairrec.result.folder import load_audit_run, load_groups, load_saved
from fairrec.result.parts import ID
from tests.builders import audit, two_groups
from tests.mitigation.planted import mitigate, planted

OTHER = "is of another result than the files beside it"


@pytest.fixture
def two(tmp_path: Path) -> list[Path]:
    """Two audits of the same users, whose numbers fit each other's."""
    results = [audit(*two_groups(), by="group", seed=seed) for seed in (1, 2)]
    return [one.save(tmp_path / f"{at}") for at, one in enumerate(results)]


def ids_in(folder: Path) -> dict[str, str]:
    found = {file.name: pl.read_parquet_metadata(file)[ID] for file in folder.glob("*.parquet")}
    found |= {file.name: json.loads(file.read_text())["id"] for file in folder.glob("*.json")}
    page = (folder / "report.html").read_text().splitlines()[-1]
    return {**found, "report.html": page.removeprefix(f"<!-- {ID} ").removesuffix(" -->")}


def test_all_files_of_a_result_carry_one_id_which_is_that_of_its_content(two, tmp_path):
    ids = [ids_in(folder) for folder in two]
    names = {"groups.parquet", "per_user.parquet", "report.html", "result.json", "run.json"}
    assert [one.keys() for one in ids] == [names, names]
    assert [len({*one.values()}) for one in ids] == [1, 1]
    assert ids[0] != ids[1]
    again = audit(*two_groups(), by="group", seed=1).save(tmp_path / "again")
    assert ids_in(again) == ids[0]
    assert fairrec.load(again).save(tmp_path / "copy") and ids_in(tmp_path / "copy") == ids[0]


@pytest.mark.parametrize("name", ["groups.parquet", "per_user.parquet", "run.json", "result.json"])
def test_a_file_of_another_audit_is_refused(two, name):
    shutil.copy(two[1] / name, two[0])
    with pytest.raises(InputError, match=rf"{OTHER}. Read it again if .* else write"):
        fairrec.load(two[0])


def test_a_table_that_was_written_anew_is_refused(two):
    file = two[0] / "per_user.parquet"
    pl.read_parquet(file).write_parquet(file)
    with pytest.raises(InputError, match=rf"per_user.parquet: {OTHER}"):
        fairrec.load(two[0])


def test_a_run_that_is_set_aside_is_not_missed(two):
    (two[1] / "run.json").unlink()
    assert fairrec.load(two[1]).run is None


def test_a_result_replaced_while_it_is_read_is_refused(two):
    _, id = load_saved(two[0])
    for file in two[1].iterdir():
        shutil.copy(file, two[0])
    with pytest.raises(InputError, match=OTHER):
        load_groups(two[0], id)
    with pytest.raises(InputError, match=rf"run.json: {OTHER}"):
        load_audit_run(two[0], id)


def test_a_table_of_users_in_parts_has_the_id_too(tmp_path):
    whole = audit(*two_groups(), by="group")
    in_parts = replace(whole, per_user=None, per_user_parts=whole.per_user.lazy())
    folder = in_parts.save(tmp_path / "out")
    assert len({*ids_in(folder).values()}) == 1
    assert fairrec.load(folder).per_user.equals(whole.per_user)


@pytest.mark.parametrize(
    "name",
    ["mitigation.json", "reranker.json", "changes.parquet", "predictions.parquet", "result.json"],
)
def test_a_file_of_another_mitigation_is_refused(tmp_path, name):
    one, other = (
        mitigate(planted(), "ndcg@5", strength=strength).save(tmp_path / f"{strength}")
        for strength in (0.2, 0.6)
    )
    assert fairrec.load(one).summary.strength == 0.2
    assert len({*ids_in(one).values()}) == 1
    shutil.copy(other / name, one)
    with pytest.raises(InputError, match=OTHER):
        fairrec.load(one)


def test_a_mitigation_beside_an_audit_of_other_lists_is_refused(two, tmp_path):
    made = mitigate(planted(), "ndcg@5").save(tmp_path / "made", report=False)
    shutil.copy(made / "mitigation.json", two[0])
    with pytest.raises(InputError, match=rf"mitigation.json: {OTHER}"):
        fairrec.load(two[0])


def test_a_table_of_another_comparison_is_refused(two, tmp_path):
    made = [
        fairrec.compare(*pair).save(tmp_path / f"{at}-{at}")
        for at, pair in enumerate((two, two[::-1]))
    ]
    assert len({*ids_in(made[0]).values()}) == 1
    shutil.copy(made[1] / "changes.parquet", made[0])
    with pytest.raises(InputError, match=OTHER):
        fairrec.load(made[0])


def test_the_same_mitigation_has_the_same_bytes(tmp_path):
    kept = [mitigate(planted(), "ndcg@5").save(tmp_path / name, report=False) for name in "ab"]
    for name in ("result.json", "mitigation.json", "predictions.parquet"):
        assert (kept[0] / name).read_bytes() == (kept[1] / name).read_bytes()
