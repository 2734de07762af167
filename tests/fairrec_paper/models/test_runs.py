"""Runs in folders: their files, what is said of those that do not fit, and how they are asked."""

from __future__ import annotations

import json
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fairrec
from fairrec.core.errors import InputError
from fairrec.scoring.model import ScoreByRun
from fairrec_paper.models.run import Run, RunModel, load_run
from fairrec_paper.models.runs import LoadingRun
from tests.fairrec_paper.models.small_run import small_run
from tests.grouped_options import group_options

SMALL = {"permutations": 9, "min_support": 1}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_run(tmp_path_factory.mktemp("trained"))


@pytest.fixture
def run(trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "run"))


def test_what_is_no_run_or_of_another_one_is_a_clear_error(run: Path, tmp_path: Path):
    weights, record = run / "model.safetensors", run / "run.json"
    whole = weights.read_bytes()
    other = small_run(tmp_path / "other", "dcn") / "model.safetensors"
    for content in (whole[: len(whole) // 2], b"garbage", other.read_bytes()):
        weights.write_bytes(content)
        with pytest.raises(InputError, match="cannot be read as the weights of this run"):
            load_run(run)
    weights.unlink()
    with pytest.raises(InputError, match="cannot be read as the weights of this run"):
        load_run(run)
    weights.write_bytes(whole)
    settings = json.loads(record.read_text())
    for content in (json.dumps({**settings, "surprise": 1}), "{"):
        record.write_text(content)
        with pytest.raises(InputError, match=r"run\.json: is no trained run of this version"):
            load_run(run)
    with pytest.raises(InputError, match="no run there"):
        load_run(run / "nothing")


@pytest.mark.slow
def test_no_torch_is_loaded_for_it():
    code = "import sys, fairrec_paper.models.runs; print('torch' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"


def test_a_run_gives_the_audit_of_its_predictions(run: Path):
    loading, loaded = LoadingRun(run, load_run), load_run(run)
    by_positions = fairrec.audit(
        loading, **group_options(**loading.tables(), **SMALL, command="same")
    )
    by_ids = fairrec.audit(
        loaded.predictions(), **group_options(**loaded.tables(), **SMALL, command="same")
    )
    assert by_positions.to_json() == by_ids.to_json()
    assert by_positions.per_user.equals(by_ids.per_user)


def test_parts_are_scored_by_a_run_that_each_process_loads(run: Path, monkeypatch):
    loaded = load_run(run)
    whole = fairrec.audit(loaded.predictions(), **group_options(**loaded.tables(), **SMALL))
    monkeypatch.setattr("fairrec.auditing.audit.is_large", lambda *_: True)
    scorer = pickle.loads(pickle.dumps(ScoreByRun(run)))
    parts = fairrec.audit(
        LoadingRun(run, load_run).file, **group_options(scorer=scorer, **loaded.tables(), **SMALL)
    )
    assert parts.per_user_parts is not None
    for name, about in whole.metrics.items():
        assert parts.metrics[name].mean == pytest.approx(about.mean, rel=1e-12)


def columns_of(run: Run) -> dict[str, np.ndarray]:
    users = {name: run.users[name].to_numpy() for name in ("user_id", *run.record.attributes)}
    return {**users, "item_id": run.items["item_id"].to_numpy()}


def scores(model: RunModel, columns: dict[str, np.ndarray], user: int) -> np.ndarray:
    inputs = {one.name: one.values for one in model.bind(columns)}
    items = inputs["item"]
    return model.answer({"user": np.repeat(inputs["user"][user], len(items)), "item": items})


@pytest.fixture(params=["deepfm", "fgcnn"])
def loaded(trained: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Run:
    return load_run(trained if request.param == "deepfm" else small_run(tmp_path, request.param))


def test_as_they_are_users_have_the_scores_of_the_run(loaded: Run):
    columns = columns_of(loaded)
    expected = loaded.score(
        np.repeat(columns["user_id"][3], len(columns["item_id"])), columns["item_id"]
    )
    assert scores(RunModel(loaded), columns, 3) == pytest.approx(expected)


def test_a_changed_user_has_the_embeddings_of_the_other_value_and_its_own_id(loaded: Run):
    columns, model = columns_of(loaded), RunModel(loaded)
    name = loaded.record.attributes[0]
    values = columns[name]
    other = next(one for one in values if one != values[3])
    changed = {**columns, name: np.where(np.arange(len(values)) == 3, other, values)}
    found = scores(model, changed, 3)
    # the same with the row of the model itself rewritten
    again = load_run(loaded.folder)
    twin = int(np.flatnonzero(values == other)[0])
    for module in again.model.modules():
        if hasattr(module, "user_rows"):
            module.user_rows[3, 1] = module.user_rows[twin, 1]
    expected = again.score(
        np.repeat(columns["user_id"][3], len(columns["item_id"])), columns["item_id"]
    )
    assert found == pytest.approx(expected)
    # nobody else has changed, nor the user as it is
    assert scores(model, changed, 4) == pytest.approx(scores(model, columns, 4))
    assert scores(model, columns, 3) != pytest.approx(found)


def test_values_that_it_never_saw_are_refused(loaded: Run):
    columns = columns_of(loaded)
    name = loaded.record.attributes[0]
    columns[name] = np.array(["X"] * len(columns[name]), dtype=object)
    with pytest.raises(InputError, match=f"has never seen X as {name}"):
        RunModel(loaded).bind(columns)
