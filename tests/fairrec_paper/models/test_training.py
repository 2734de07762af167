"""Training: options, epochs, what is kept and written, and how good a model is."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import fairrec
from fairrec.core.errors import InputError, OutputError
from fairrec.core.options import bind
from fairrec.demo.held_out import Targets
from fairrec_paper.datasets.bundle import read_bundle, write_bundle
from fairrec_paper.models import training
from fairrec_paper.models.networks import MODELS
from fairrec_paper.models.options import Hyper, TrainingOptions
from fairrec_paper.models.run import load_run
from fairrec_paper.models.training import target_metrics, train
from tests.end_to_end.command_line import files_in
from tests.fairrec_paper.models.small_run import small_bundle

OPTIONS = TrainingOptions(epochs=2, batch_size=256, candidates=20)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bundle")
    write_bundle(small_bundle(), folder)
    return read_bundle(folder)


@pytest.mark.parametrize(
    ("text", "value"),
    [("1e-3", 0.001), ("0.5", 0.5), ("16", 16), ("256-128", (256, 128)), ("1_000", 1000)],
)
def test_a_hyper_parameter_is_a_number_or_the_sizes_of_layers(text, value):
    option = bind(Hyper)
    read = option.parse("hyper", f"some={text}")["some"]
    assert read == value
    assert type(read) is type(value)


def same_weights(one, two) -> bool:
    first, second = load_file(one / "model.safetensors"), load_file(two / "model.safetensors")
    return first.keys() == second.keys() and all(torch.equal(first[k], second[k]) for k in first)


@pytest.mark.parametrize("name", list(MODELS))
def test_every_model_trains_scores_and_can_be_audited(name, bundle, tmp_path):
    record = train(bundle, name, tmp_path / "run", {"layers": (16,)}, OPTIONS)
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


def test_the_same_seed_gives_the_same_weights(bundle, tmp_path):
    for folder, seed in (("a", 0), ("b", 0), ("c", 1)):
        options = TrainingOptions(epochs=2, batch_size=256, candidates=20, seed=seed)
        train(bundle, "deepfm", tmp_path / folder, {"layers": (16,)}, options)
    assert same_weights(tmp_path / "a", tmp_path / "b")
    assert not same_weights(tmp_path / "a", tmp_path / "c")


QUALITY = {"holdout_loss": 0.5, "holdout_auc": 0.5, "penalty": 0.0, "test": {}}


def test_the_best_epoch_is_kept_and_patience_ends_training(bundle, tmp_path, monkeypatch):
    aucs = iter([0.6, 0.7, 0.65, 0.64, 0.9])
    monkeypatch.setattr(training, "target_metrics", lambda *args: {"auc": next(aucs)})
    monkeypatch.setattr(training, "evaluate", lambda *args: QUALITY)
    options = TrainingOptions(epochs=10, patience=2, batch_size=256, candidates=20)
    record = train(bundle, "wide_deep", tmp_path / "run", {"layers": (8,)}, options)
    assert record.best_epoch == 2
    assert len(record.epochs) == 4


def test_a_run_is_trained_again_only_where_that_is_asked(bundle, tmp_path, monkeypatch):
    run, other = tmp_path / "run", dataclasses.replace(OPTIONS, seed=1)
    first = train(bundle, "dcn", run, {"layers": (8,)}, OPTIONS)
    before = files_in(run)
    again = train(bundle, "dcn", run, {"layers": (8,)}, OPTIONS)
    assert (again.epochs, again.test, files_in(run)) == (first.epochs, first.test, before)
    for name, layers, options, says in (
        ("wide_deep", (8,), OPTIONS, "another model"),
        ("dcn", (9,), OPTIONS, "another layers"),
        ("dcn", (8,), other, "another seed"),
    ):
        with pytest.raises(InputError, match=says):
            train(bundle, name, run, {"layers": layers}, options)
    # a run stays whole until the one that replaces it is
    with monkeypatch.context() as patch, pytest.raises(OutputError, match="No space left"):
        patch.setattr(training, "save_run", full_disk)
        train(bundle, "dcn", run, {"layers": (8,)}, other, restart=True)
    assert files_in(run) == before
    train(bundle, "dcn", run, {"layers": (8,)}, other, restart=True)
    assert files_in(run).keys() == before.keys()
    assert files_in(run)["model.safetensors"] != before["model.safetensors"]
    # nothing is pickled
    assert {file.suffix for file in run.iterdir()} == {".json", ".parquet", ".safetensors"}


def full_disk(*args) -> None:
    raise OSError(28, "No space left on device")


def test_a_penalty_is_on_embeddings_and_crosses_and_makes_them_smaller(bundle, tmp_path):
    def squares(l2: float) -> float:
        options = dataclasses.replace(OPTIONS, l2=l2)
        record = train(bundle, "dcn", tmp_path / f"{l2}", {"layers": (8,), "linear": 1}, options)
        model = load_run(tmp_path / f"{l2}").model
        assert len(model.penalised_weights()) == 5  # fields and categories, twice, and crosses
        total = sum(
            float(weight.detach().double().square().sum()) for weight in model.penalised_weights()
        )
        assert record.penalty == pytest.approx(l2 * total)
        return total

    # Adam moves a weight by its rate at most, whatever the penalty
    assert squares(1e-2) < 0.8 * squares(0.0)


TARGETS = Targets(
    users=np.array([0, 1]),
    items=np.array([[5, 6, 7], [8, 5, 6]]),
    is_target=np.array([[True, False, False], [False, True, False]]),
)


def test_metrics_are_those_of_the_targets_places(monkeypatch):
    def score_pairs(model, users, items):
        # an item by its number, for user 1 the other way round
        return np.where(users == 0, items, -items).astype(np.float64)

    monkeypatch.setattr(training, "score_pairs", score_pairs)
    top = target_metrics(None, TARGETS)
    # third and first place
    assert top["mrr@5"] == pytest.approx((1 / 3 + 1) / 2)
    assert top["ndcg@5"] == pytest.approx((1 / np.log2(4) + 1) / 2)
    # user 0 has none of two below, user 1 both
    assert (top["auc"], top["hit@5"]) == ((0 / 2 + 2 / 2) / 2, 1.0)
    # a tie counts half
    monkeypatch.setattr(training, "score_pairs", lambda model, users, items: np.zeros(len(users)))
    assert target_metrics(None, TARGETS, ("auc",)) == {"auc": 0.5}
