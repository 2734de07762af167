from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import fairrec
from fairrec.core.atomic_io import sole
from fairrec.core.errors import InputError, OutputError
from fairrec_paper.datasets.bundle import read_bundle, write_bundle
from fairrec_paper.models import training
from fairrec_paper.models.evaluation import Quality
from fairrec_paper.models.networks import MODELS
from fairrec_paper.models.options import TrainingOptions
from fairrec_paper.models.run import load_run
from fairrec_paper.models.training import train
from tests.end_to_end.command_line import files_in
from tests.fairrec_paper.models.small_bundle import small_bundle

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
        predictions,
        users=run.users,
        by="gender",
        metrics=["auc", "mrr@5"],
        statistics=fairrec.Statistics(permutations=19),
    )
    # the test metrics of training and the audit are the same numbers
    assert result.metric("auc").mean == pytest.approx(record.test["auc"], abs=1e-12)
    assert result.metric("mrr@5").mean == pytest.approx(record.test["mrr@5"], abs=1e-12)


def test_an_auc_is_told_once_there_is_one(bundle, tmp_path):
    said = []
    train(
        bundle,
        "deepfm",
        tmp_path / "run",
        {"layers": (16,)},
        OPTIONS,
        progress=lambda stage, done, total: said.append(stage),
    )
    first, second = ([line for line in said if line.startswith(f"epoch {n}: ")] for n in (1, 2))
    assert first and not any("AUC" in line for line in first)
    assert second and all("last AUC 0." in line for line in second)


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


def test_a_run_stays_whole_until_the_one_that_replaces_it_is(bundle, tmp_path, monkeypatch):
    run, seeded = tmp_path / "run", dataclasses.replace(OPTIONS, seed=1)
    train(bundle, "dcn", run, {"layers": (8,)}, OPTIONS)
    before = files_in(run)
    one_epoch, save = training._one_epoch, training.save_record
    calls = []

    def killed(*args):
        calls.append(args)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return one_epoch(*args)

    def full(record, file):
        if record.finished:
            raise OSError(28, "No space left on device")
        save(record, file)

    monkeypatch.setattr(training, "_one_epoch", killed)
    with pytest.raises(KeyboardInterrupt):
        train(bundle, "dcn", run, {"layers": (8,)}, seeded, restart=True)
    load_run(run)
    assert before.items() <= files_in(run).items()
    monkeypatch.setattr(training, "save_record", full)
    with pytest.raises(OutputError, match="No space left"):
        train(bundle, "dcn", run, {"layers": (8,)}, seeded)
    assert before.items() <= files_in(run).items()
    # what is there is taken up, and the finished run is not trained again
    monkeypatch.setattr(training, "save_record", save)
    n_calls = len(calls)
    train(bundle, "dcn", run, {"layers": (8,)}, OPTIONS)
    assert len(calls) == n_calls
    train(bundle, "dcn", run, {"layers": (8,)}, seeded)
    assert len(calls) == n_calls
    assert files_in(run).keys() == before.keys()
    assert files_in(run)["model.safetensors"] != before["model.safetensors"]


def test_two_trainings_do_not_share_a_folder(bundle, tmp_path):
    (tmp_path / "run").mkdir()
    with (
        sole(tmp_path / "run" / "training.lock", "is training"),
        pytest.raises(OutputError, match=r"run: another command.* is training there"),
    ):
        train(bundle, "dcn", tmp_path / "run", {"layers": (8,)}, OPTIONS)


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


def test_an_unknown_device_is_refused(bundle, tmp_path):
    with pytest.raises(
        fairrec.FairRecError, match="invalid device: expected 'auto', 'cpu' or 'cuda', got 'tpu'"
    ):
        train(bundle, "dcn", tmp_path / "run", options=TrainingOptions(device="tpu"))
    if not torch.cuda.is_available():
        with pytest.raises(InputError, match="no CUDA device"):
            train(bundle, "dcn", tmp_path / "run", options=TrainingOptions(device="cuda"))


@pytest.mark.parametrize("name", ["run.json", "users.parquet"])
def test_files_of_others_are_not_replaced_by_a_run(bundle, tmp_path, name):
    # such as the run.json of an audit
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / name).write_text('{"made_at": "2026-01-01"}')
    with pytest.raises(OutputError, match=f"{name} there is of no trained run of FairRec's"):
        train(bundle, "dcn", tmp_path / "theirs", {"layers": (8,)}, OPTIONS, restart=True)
    assert files_in(tmp_path / "theirs") == {name: b'{"made_at": "2026-01-01"}'}


def test_the_epoch_with_the_least_loss_can_be_kept_and_a_penalty_counts(
    bundle, tmp_path, monkeypatch
):
    losses, penalties = iter([0.5, 0.4, 0.35, 0.3]), iter([0.1, 0.1, 0.2, 0.2])
    monkeypatch.setattr(
        training, "holdout_quality", lambda *args: Quality(loss=next(losses), auc=0.9)
    )
    monkeypatch.setattr(training, "penalty", lambda *args: next(penalties))
    options = dataclasses.replace(OPTIONS, epochs=4, patience=4, best_by="holdout-loss", l2=1e-5)
    record = train(bundle, "wide_deep", tmp_path / "run", {"layers": (8,)}, options)
    assert [epoch.holdout_loss for epoch in record.epochs] == pytest.approx([0.6, 0.5, 0.55, 0.5])
    assert record.best_epoch == 2


def test_a_penalty_is_on_embeddings_and_crosses_and_makes_them_smaller(bundle, tmp_path):
    def squares(l2: float) -> float:
        options = dataclasses.replace(OPTIONS, l2=l2)
        record = train(bundle, "dcn", tmp_path / f"{l2}", {"layers": (8,), "linear": 1}, options)
        model = load_run(tmp_path / f"{l2}").model
        assert len(model.penalised()) == 5  # fields and categories, twice, and crosses
        total = sum(float(weight.detach().double().square().sum()) for weight in model.penalised())
        assert record.penalty == pytest.approx(l2 * total)
        return total

    # Adam moves a weight by its rate at most, whatever the penalty
    assert squares(1e-2) < 0.8 * squares(0.0)


def test_another_seed_trains_on_the_same_data_where_that_is_asked(bundle, tmp_path):
    for seed in (0, 1):
        options = dataclasses.replace(OPTIONS, epochs=1, seed=seed, data_seed=0)
        train(bundle, "deepfm", tmp_path / f"{seed}", {"layers": (8,)}, options)
    one, other = files_in(tmp_path / "0"), files_in(tmp_path / "1")
    assert [name for name in one if one[name] != other[name]] == ["model.safetensors", "run.json"]


def test_negatives_can_stay_the_same(bundle):
    data = training.training_data(bundle, n_candidates=20)

    def negatives(epoch: int, fixed: bool) -> set[tuple[int, int]]:
        options = dataclasses.replace(OPTIONS, fixed_negatives=fixed)
        rng = np.random.default_rng([0, epoch, 3])
        batches = training._batches(data, rng, options)
        return {
            pair
            for users, items, labels in batches
            for pair in zip(users[labels == 0].tolist(), items[labels == 0].tolist(), strict=True)
        }

    assert negatives(1, True) == negatives(2, True)
    assert negatives(1, False) != negatives(2, False)


def test_a_model_that_sees_other_features_is_loaded_with_them(bundle, tmp_path):
    options = dataclasses.replace(OPTIONS, epochs=1, features=("gender",))
    record = train(bundle, "deepfm", tmp_path / "run", {"layers": (8,)}, options)
    assert (len(record.user_sizes), record.n_categories) == (2, 0)
    assert load_run(tmp_path / "run").predictions().height == 20 * bundle.users.height
