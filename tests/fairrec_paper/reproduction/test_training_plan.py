"""How models of experiments are trained."""

from __future__ import annotations

from types import SimpleNamespace

from fairrec_paper.models.options import TrainingOptions
from fairrec_paper.reproduction.protocol import TrainingPlan, paper_protocol

PAPER = paper_protocol("movielens-1m")


def record_of(options: TrainingOptions, hyper: dict) -> SimpleNamespace:
    """A run that was trained so."""
    return SimpleNamespace(model="fgcnn", options=vars(options), hyper_parameters=hyper)


def test_batches_grow_with_the_data(source):
    assert TrainingPlan().options(source.bundle).batch_size == 1024
    large = source.bundle.manifest.model_copy(update={"n_positive": 300_000})
    bundle = SimpleNamespace(manifest=large)
    assert TrainingPlan().options(bundle).batch_size == 4096


def test_the_papers_training_is_as_its_settings_say(source):
    options = TrainingPlan(seed=2, protocol=PAPER).options(source.bundle)
    assert (options.epochs, options.fixed_negatives, options.best_by) == (20, True, "holdout-loss")
    assert (options.seed, options.seed_of_data) == (2, 0)
    # synthetic shapes have no zip codes
    assert options.features == ("gender", "age", "occupation")
    assert TrainingPlan(protocol=PAPER).hyper("fgcnn")["width"] == [3, 2]
    assert TrainingPlan().hyper("fgcnn") == {}
    quick = TrainingPlan(quick=True, protocol=PAPER)
    assert quick.options(source.bundle).epochs == 1
    assert quick.hyper("dcn")["linear"]


def test_a_run_by_our_protocol_may_be_trained_otherwise_but_not_with_another_seed(source):
    by_hand = record_of(TrainingOptions(epochs=3), {"embedding": 2})
    assert TrainingPlan().misfit(by_hand, source.bundle) == ""
    assert TrainingPlan(seed=1).misfit(by_hand, source.bundle) == "seed (0, now 1)"
    again = record_of(TrainingOptions(seed=1), {})
    assert TrainingPlan(seed=1).misfit(again, source.bundle) == "data seed (1, now 0)"


def test_a_run_by_the_papers_protocol_is_as_its_settings_say_wherever_it_was_trained(source):
    plan = TrainingPlan(protocol=PAPER)
    options, hyper = plan.options(source.bundle), plan.hyper("fgcnn")
    elsewhere = record_of(TrainingOptions(**{**vars(options), "device": "cpu"}), hyper)
    assert plan.misfit(elsewhere, source.bundle) == ""
    narrow = record_of(options, {**hyper, "width": [3]})
    assert plan.misfit(narrow, source.bundle) == "width ([3], now [3, 2])"
    longer = record_of(TrainingOptions(**{**vars(options), "epochs": 30}), hyper)
    assert plan.misfit(longer, source.bundle) == "epochs (30, now 20)"
