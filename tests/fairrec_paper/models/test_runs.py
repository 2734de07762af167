"""Runs in folders: their files, what is said of those that do not fit, and how they are asked."""

from __future__ import annotations

import json
import pickle
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch

import fairrec
from fairrec.core.errors import InputError
from fairrec.scoring.model import ScoreByRun
from fairrec_paper.models.run import Run, RunModel, load_run
from fairrec_paper.models.runs import LoadingRun, load_run_record, read_candidates, read_items
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


@pytest.mark.parametrize(
    ("hyper", "says"),
    [
        ({"dropout": "0.5"}, "invalid hyper-parameter dropout"),
        ({"embedding": True}, "invalid hyper-parameter embedding"),
        ({"layers": ["8"]}, "invalid hyper-parameter layers"),
        ({"embedding": 3}, "cannot be read as the weights of this run"),
    ],
    ids=str,
)
def test_hyper_parameters_of_another_model_are_refused(run: Path, hyper: dict[str, Any], says: str):
    record = json.loads((run / "run.json").read_text())
    record["hyper_parameters"] |= hyper
    (run / "run.json").write_text(json.dumps(record))
    with pytest.raises(InputError, match=says):
        load_run(run)


def test_a_record_names_the_tables_of_its_run(run: Path):
    tables = load_run_record(run).tables(run)
    assert tables["users"] == run / "users.parquet" and tables["items"] == run / "items.parquet"
    assert tables["history"] == run / "history.parquet" and "gender" in tables["by"]
    written = json.loads((run / "run.json").read_text()) | {"has_categories": False}
    (run / "run.json").write_text(json.dumps(written))
    assert load_run_record(run).tables(run)["items"] is None


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda table: table.drop("label"), "'label' is not there"),
        (lambda table: table.explode("item_id", "label"), "'item_id' is"),
        (lambda table: table.with_columns(pl.col("label").list.head(1)), "items have no label"),
    ],
)
def test_candidates_that_are_none_are_refused(tmp_path: Path, change: Any, says: str):
    table = pl.DataFrame({"user_id": [1], "item_id": [[1, 2]], "label": [[0, 1]]})
    table.write_parquet(tmp_path / "test.parquet")
    assert read_candidates(tmp_path / "test.parquet").equals(table)
    change(table).write_parquet(tmp_path / "test.parquet")
    with pytest.raises(InputError, match=says):
        read_candidates(tmp_path / "test.parquet")


def test_items_whose_categories_are_no_lists_are_refused(tmp_path: Path):
    items = pl.DataFrame({"item_id": [1], "categories": [["a"]]})
    for table in (items, items.drop("categories")):
        table.write_parquet(tmp_path / "items.parquet")
        assert read_items(tmp_path).equals(table)
    items.explode("categories").write_parquet(tmp_path / "items.parquet")
    with pytest.raises(InputError, match="'categories' is String there"):
        read_items(tmp_path)


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


def test_a_run_whose_tables_hold_text_gives_the_same(run: Path):
    loading = LoadingRun(run, load_run)
    expected = fairrec.audit(loading, **group_options(**loading.tables(), **SMALL, command="same"))
    for name, kind in (("test", pl.List(pl.String)), ("history", pl.String)):
        table = pl.read_parquet(run / f"{name}.parquet")
        # each text once, and a number a row
        assert table["item_id"].dtype in (pl.Categorical, pl.List(pl.Categorical))
        table.with_columns(pl.col("item_id").cast(kind)).write_parquet(run / f"{name}.parquet")
    as_text = LoadingRun(run, load_run)
    result = fairrec.audit(as_text, **group_options(**as_text.tables(), **SMALL, command="same"))
    assert result.per_user.equals(expected.per_user)
    assert result.groups().equals(expected.groups())


def test_predictions_hold_text_that_can_be_joined(run: Path):
    predictions = load_run(run).predictions()
    items = pl.read_parquet(run / "items.parquet")
    assert predictions.join(items, on="item_id").height == predictions.height


def test_rows_of_the_tables_may_come_in_any_order(run: Path):
    expected = fairrec.audit(
        load_run(run).predictions(), **group_options(**load_run(run).tables(), **SMALL)
    )
    loading = LoadingRun(run, load_run)
    users = pl.read_parquet(run / "users.parquet").reverse()
    shuffled = fairrec.audit(
        loading, **group_options(**{**loading.tables(), "users": users}, **SMALL)
    )
    assert shuffled.per_user.equals(expected.per_user)


def test_the_model_is_loaded_beside_the_reading(run: Path):
    may_go_on, in_thread = threading.Event(), []

    def slowly(folder: Path) -> Run:
        in_thread.append(threading.current_thread() is not threading.main_thread())
        assert may_go_on.wait(60)
        return load_run(folder)

    loading = LoadingRun(run, slowly)
    # would wait for ever if the candidates waited for the model
    assert loading.candidates().columns == ["user_id", "item_id", "label"]
    may_go_on.set()
    fairrec.audit(loading, **group_options(**loading.tables(), **SMALL))
    assert in_thread == [True]


def test_scores_that_are_not_finite_are_refused(run: Path):
    def broken(folder: Path) -> Run:
        loaded = load_run(folder)
        with torch.no_grad():
            for weights in loaded.model.parameters():
                weights.fill_(np.inf)
        return loaded

    loading = LoadingRun(run, broken)
    with pytest.raises(InputError, match="scores that are not finite"):
        fairrec.audit(loading, **group_options(**loading.tables(), **SMALL))


@pytest.mark.slow
def test_no_compiler_is_loaded_to_score(run: Path):
    code = (
        "import sys\n"
        "from fairrec.commands import main\n"
        "try: main()\n"
        "finally: print(*({'torch._dynamo', 'torch._inductor', 'sympy'} & {*sys.modules}))"
    )
    command = ("audit", "--run", run, "--permutations", "0", "--min-support", "1", "--quiet")
    ran = subprocess.run(
        [sys.executable, "-c", code, *command, "--format", "json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.splitlines()[-1] == ""


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


def test_tables_that_do_not_belong_to_the_run_are_refused(run: Path):
    candidates = pl.read_parquet(run / "test.parquet")
    foreign = candidates.with_columns(user_id=pl.lit("nobody"))
    foreign.write_parquet(run / "test.parquet")
    with pytest.raises(InputError, match="'nobody' is not in the table"):
        load_run(run).predictions()
    pl.read_parquet(run / "users.parquet").drop("gender").write_parquet(run / "users.parquet")
    with pytest.raises(InputError, match="not as it was written"):
        load_run(run)


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
