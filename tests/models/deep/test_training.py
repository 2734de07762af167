from __future__ import annotations

import json
import shutil

import polars as pl
import pytest
import torch
from safetensors.torch import load_file

import fairrec
from fairrec.core.errors import InputError
from fairrec.datasets.bundle import read_bundle, write_bundle
from fairrec.models.deep import training
from fairrec.models.deep.registry import MODELS
from fairrec.models.deep.training import TrainingOptions, train
from fairrec.models.runs.run import load_run
from tests.models.small_bundle import small_bundle

OPTIONS = TrainingOptions(epochs=3, batch_size=256, candidates=20)


@pytest.fixture
def bundle(tmp_path):
    write_bundle(small_bundle(), tmp_path / "bundle")
    return read_bundle(tmp_path / "bundle")


def same_weights(one, two) -> bool:
    first, second = load_file(one / "model.safetensors"), load_file(two / "model.safetensors")
    return first.keys() == second.keys() and all(torch.equal(first[k], second[k]) for k in first)


@pytest.mark.parametrize("name", list(MODELS))
def test_every_model_trains_scores_and_can_be_audited(name, bundle, tmp_path):
    record = train(bundle, name, tmp_path / "run", {"layers": (16,)}, OPTIONS)
    assert record.finished
    assert 0 < record.holdout_loss < 1
    assert set(record.test) == {"auc", "mrr@5", "ndcg@5", "hit@5"}
    run = load_run(tmp_path / "run")
    predictions = run.predictions()
    result = fairrec.audit(
        predictions, users=run.users, by="gender", metrics=["auc", "mrr@5"], permutations=19
    )
    # the test metrics of training and the audit are the same numbers
    assert result.metric("auc").mean == pytest.approx(record.test["auc"], abs=1e-12)
    assert result.metric("mrr@5").mean == pytest.approx(record.test["mrr@5"], abs=1e-12)


def test_the_same_seed_gives_the_same_weights(bundle, tmp_path):
    for folder, seed in (("a", 0), ("b", 0), ("c", 1)):
        options = TrainingOptions(epochs=2, batch_size=256, candidates=20, seed=seed)
        train(bundle, "deepfm", tmp_path / folder, {"layers": (16,)}, options)
    assert same_weights(tmp_path / "a", tmp_path / "b")
    assert not same_weights(tmp_path / "a", tmp_path / "c")


def test_a_killed_training_goes_on_and_ends_as_an_unbroken_one(bundle, tmp_path, monkeypatch):
    train(bundle, "dcn", tmp_path / "whole", {"layers": (16,)}, OPTIONS)
    one_epoch = training._one_epoch
    n_calls = 0

    def killed(*args):
        nonlocal n_calls
        n_calls += 1
        if n_calls == 3:
            raise KeyboardInterrupt
        return one_epoch(*args)

    monkeypatch.setattr(training, "_one_epoch", killed)
    with pytest.raises(KeyboardInterrupt):
        train(bundle, "dcn", tmp_path / "broken", {"layers": (16,)}, OPTIONS)
    with pytest.raises(InputError, match="has not finished"):
        load_run(tmp_path / "broken")
    monkeypatch.setattr(training, "_one_epoch", one_epoch)
    record = train(bundle, "dcn", tmp_path / "broken", {"layers": (16,)}, OPTIONS)
    assert len(record.epochs) == 3
    assert same_weights(tmp_path / "whole", tmp_path / "broken")
    assert not list((tmp_path / "broken").glob("training-*"))


def test_a_kill_between_state_and_record_loses_one_epoch_and_no_more(bundle, tmp_path, monkeypatch):
    train(bundle, "dcn", tmp_path / "whole", {"layers": (16,)}, OPTIONS)
    save = training.save_record
    n_calls = 0

    def killed(*args):
        nonlocal n_calls
        n_calls += 1
        if n_calls == 2:
            raise KeyboardInterrupt
        save(*args)

    monkeypatch.setattr(training, "save_record", killed)
    with pytest.raises(KeyboardInterrupt):
        train(bundle, "dcn", tmp_path / "broken", {"layers": (16,)}, OPTIONS)
    monkeypatch.setattr(training, "save_record", save)
    train(bundle, "dcn", tmp_path / "broken", {"layers": (16,)}, OPTIONS)
    assert same_weights(tmp_path / "whole", tmp_path / "broken")


def test_a_restart_killed_at_once_leaves_no_old_model_beside_new_tables(
    bundle, tmp_path, monkeypatch
):
    train(bundle, "dcn", tmp_path / "run", {"layers": (8,)}, OPTIONS)

    def killed(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(training, "_one_epoch", killed)
    with pytest.raises(KeyboardInterrupt):
        train(bundle, "dcn", tmp_path / "run", {"layers": (8,)}, OPTIONS, restart=True)
    with pytest.raises(InputError, match="no run there"):
        load_run(tmp_path / "run")


def test_tables_that_do_not_belong_to_the_run_are_refused(run):
    candidates = pl.read_parquet(run / "test.parquet")
    foreign = candidates.with_columns(user_id=pl.lit("nobody"))
    foreign.write_parquet(run / "test.parquet")
    with pytest.raises(InputError, match="'nobody' is not in the table"):
        load_run(run).predictions()
    pl.read_parquet(run / "users.parquet").drop("gender").write_parquet(run / "users.parquet")
    with pytest.raises(InputError, match="not those of its run"):
        load_run(run)


def test_the_best_epoch_is_kept_and_patience_ends_training(bundle, tmp_path, monkeypatch):
    aucs = iter([0.6, 0.7, 0.65, 0.64, 0.9])
    monkeypatch.setattr(training, "target_auc", lambda model, targets: next(aucs))
    options = TrainingOptions(epochs=10, patience=2, batch_size=256, candidates=20)
    record = train(bundle, "wide_deep", tmp_path / "run", {"layers": (8,)}, options)
    assert record.best_epoch == 2
    assert len(record.epochs) == 4


def test_a_finished_run_is_not_trained_again(bundle, tmp_path, monkeypatch):
    first = train(bundle, "wide_deep", tmp_path / "run", {"layers": (8,)}, OPTIONS)
    monkeypatch.setattr(training, "_one_epoch", lambda *args: pytest.fail("trained again"))
    again = train(bundle, "wide_deep", tmp_path / "run", {"layers": (8,)}, OPTIONS)
    assert (again.epochs, again.test) == (first.epochs, first.test)


def test_another_run_in_the_folder_is_refused_unless_restarted(bundle, tmp_path):
    train(bundle, "wide_deep", tmp_path / "run", {"layers": (8,)}, OPTIONS)
    with pytest.raises(InputError, match="another model"):
        train(bundle, "dcn", tmp_path / "run", {"layers": (8,)}, OPTIONS)
    with pytest.raises(InputError, match="another layers"):
        train(bundle, "wide_deep", tmp_path / "run", {"layers": (9,)}, OPTIONS)
    assert (
        train(bundle, "dcn", tmp_path / "run", {"layers": (8,)}, OPTIONS, restart=True).model
        == "dcn"
    )


def test_a_checkpoint_scores_the_same_bits_after_writing_and_reading(bundle, tmp_path):
    train(bundle, "fgcnn", tmp_path / "run", {"layers": (8,)}, OPTIONS)
    one, two = load_run(tmp_path / "run"), load_run(tmp_path / "run")
    assert (one.predictions()["score"] == two.predictions()["score"]).all()


@pytest.fixture
def run(bundle, tmp_path):
    train(bundle, "deepfm", tmp_path / "run", {"layers": (8,)}, OPTIONS)
    return tmp_path / "run"


def test_damaged_and_foreign_checkpoints_are_clear_errors(run, bundle, tmp_path):
    weights = run / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"model\.safetensors: cannot be read as safetensors"):
        load_run(run)
    weights.write_bytes(b"garbage")
    with pytest.raises(InputError, match="cannot be read as safetensors"):
        load_run(run)
    train(bundle, "dcn", tmp_path / "other", {"layers": (8,)}, OPTIONS)
    shutil.copy(tmp_path / "other" / "model.safetensors", weights)
    with pytest.raises(InputError, match="weights of another model"):
        load_run(run)
    weights.unlink()
    with pytest.raises(InputError, match="cannot be read"):
        load_run(run)


def test_a_damaged_record_is_a_clear_error(run):
    record = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**record, "surprise": 1}))
    with pytest.raises(InputError, match=r"run\.json: is damaged"):
        load_run(run)
    (run / "run.json").write_text("{")
    with pytest.raises(InputError, match=r"run\.json: is damaged"):
        load_run(run)
    with pytest.raises(InputError, match="no run there"):
        load_run(run / "nothing")


def test_no_pickle_is_written(run):
    assert {file.suffix for file in run.iterdir()} == {".json", ".parquet", ".safetensors"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"epochs": 0}, "--epochs"),
        ({"learning_rate": 0}, "--learning-rate"),
        ({"holdout": 1.0}, "--holdout"),
        ({"candidates": 1}, "--candidates"),
        ({"seed": -1}, "--seed"),
        ({"seed": 2**40}, "--seed"),
    ],
)
def test_impossible_options_are_refused(options, said):
    with pytest.raises(InputError, match=said):
        TrainingOptions(**options)


def test_an_unknown_device_is_refused(bundle, tmp_path):
    with pytest.raises(fairrec.FairRecError, match="No device 'tpu'"):
        train(bundle, "dcn", tmp_path / "run", options=TrainingOptions(device="tpu"))
    if not torch.cuda.is_available():
        with pytest.raises(InputError, match="no CUDA device"):
            train(bundle, "dcn", tmp_path / "run", options=TrainingOptions(device="cuda"))
