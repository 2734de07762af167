"""What experiments are run on: data, protocols, recommenders and options."""

from __future__ import annotations

import shutil
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.core.errors import FairRecError, InputError
from fairrec.demo.world_options import WorldOptions
from fairrec_paper.datasets.bundle import Bundle, Manifest, write_bundle
from fairrec_paper.datasets.synthetic import synthetic_bundle
from fairrec_paper.models.networks import MODELS
from fairrec_paper.models.options import DEEP_MODELS, TrainingOptions
from fairrec_paper.reproduction.data import (
    TITLES,
    DataCatalogue,
    TrainingPlan,
    apply_protocol,
    paper_protocol,
    protocol_notes,
)
from fairrec_paper.reproduction.experiment import code_sum
from fairrec_paper.reproduction.options import QUICK, ReproduceOptions
from fairrec_paper.reproduction.reproducing import reproduce
from tests.fairrec_paper.reproduction.trial_rows import silent


def bundle_in(folder: Path, name: str) -> str:
    write_bundle(synthetic_bundle(WorldOptions(name=name, n_users=60, n_items=40)), folder)
    return str(folder)


def test_a_bundle_is_known_by_its_manifest(tmp_path: Path):
    folder = bundle_in(tmp_path / "any", "movielens-1m")
    sources = DataCatalogue([folder], tmp_path / "scratch", ReproduceOptions())
    assert sources.given == ("movielens-1m",)
    source = sources.get("movielens-1m", silent)
    assert source.title == "MovieLens-1M, 60 users"
    assert not source.is_synthetic
    assert source.key == "movielens-1m"
    assert not (tmp_path / "scratch").exists()


def test_a_data_set_that_is_not_given_is_a_synthetic_shape_and_says_so(tmp_path: Path):
    sources = DataCatalogue([], tmp_path, QUICK)
    for name, title in TITLES.items():
        source = sources.get(name, silent)
        assert source.is_synthetic
        assert source.title == f"synthetic shape of {title}, 240 users"
        assert source is sources.get(name, silent)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["nowhere"], "nowhere: no bundle there. Make one with fairrec-paper prepare"),
        (["other"], "holds 'demo', which no experiment of the paper uses"),
        (["ml", "again"], "another folder is given for movielens-1m already"),
    ],
)
def test_what_cannot_be_used_is_refused(given, says, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bundle_in(Path("other"), "demo")
    bundle_in(Path("ml"), "movielens-1m")
    bundle_in(Path("again"), "synthetic movielens-1m")
    with pytest.raises(InputError, match=says):
        DataCatalogue(given, tmp_path / "scratch", ReproduceOptions())


def bundle_of(name: str, users: dict, items: dict) -> Bundle:
    """Two ratings by each of two users, of which one is good."""
    interactions = pl.DataFrame(
        {
            "user_id": [1, 1, 2, 2],
            "item_id": [10, 20, 10, 20],
            "is_positive": [True, False, True, False],
            "time": [1, 2, 3, 4],
        }
    )
    manifest = Manifest(
        name=name,
        source="by hand",
        licence="none",
        attributes=("gender",),
        positive="rating >= 4",
        order="time",
        n_interactions=4,
        n_positive=2,
        n_users=2,
        n_items=3,
        sha256={"users": "a"},
    )
    return Bundle(
        interactions,
        pl.DataFrame({"user_id": [1, 2], "gender": ["F", "M"], **users}),
        pl.DataFrame({"item_id": [10, 20, 30], **items}),
        manifest,
    )


@pytest.mark.parametrize("dataset", TITLES)
def test_every_data_set_has_settings_that_training_understands(dataset):
    protocol = paper_protocol(dataset)
    options = TrainingOptions(**protocol.training)
    assert (options.batch_size, options.candidates, options.l2) == (256, 50, 1e-5)
    assert [*protocol.models] == [*DEEP_MODELS]
    for name, hyper in protocol.models.items():
        tuples = {key: tuple(v) if isinstance(v, list) else v for key, v in hyper.items()}
        made = MODELS[name].hyper_parameters(**tuples)
        assert made.embedding == 4


def test_every_rating_is_positive_and_items_nobody_rated_are_left_out():
    users = {"age": [1, 18], "occupation": [3, 4], "zip_code": ["55455", "48067"]}
    items = {"categories": [["Drama"], ["Crime"], ["Drama"]]}
    ours, protocol = bundle_of("movielens-1m", users, items), paper_protocol("movielens-1m")
    made = apply_protocol(ours, protocol)
    assert made.interactions["is_positive"].to_list() == [True] * 4
    assert made.items["item_id"].to_list() == [10, 20]
    assert (made.manifest.n_positive, made.manifest.n_items) == (4, 2)
    assert made.manifest.sha256 == {"users": "a", "protocol": protocol.sha256}
    assert protocol.present_features(made) == ("gender", "age", "occupation", "zip_code")
    assert protocol_notes(made) == (
        "every interaction is positive, and 1 items without any are left out",
    )


def test_a_name_can_be_the_category_and_prices_are_rounded_down():
    users = {"age": [1, 18], "country": ["Chad", "Peru"], "signup": ["a", "b"]}
    music = bundle_of("lfm360k", users, {"name": ["muse", None, "abba"]})
    made = apply_protocol(music, paper_protocol("lfm360k"))
    assert made.items["categories"].to_list() == [["muse"], []]
    items = {"price": [9.99, 20.0, 1.0], "categories": [["a"], ["b"], ["a"]]}
    shop = bundle_of("amazon-electronics", {}, items)
    made = apply_protocol(shop, paper_protocol("amazon-electronics"))
    assert made.items["price"].to_list() == [9, 20]


def test_what_the_papers_own_data_lack_is_refused_and_of_shapes_it_is_said():
    users = {"age": [1, 18], "occupation": [3, 4]}
    protocol = paper_protocol("movielens-1m")
    with pytest.raises(InputError, match="has no zip_code, which the paper's models see"):
        apply_protocol(bundle_of("movielens-1m", users, {}), protocol)
    shape = apply_protocol(bundle_of("synthetic movielens-1m", users, {}), protocol)
    assert protocol_notes(shape)[1] == "the paper's models see zip_code, which is not known here"
    assert protocol.present_features(shape) == ("gender", "age", "occupation")


PAPER = paper_protocol("movielens-1m")


def record_of(options: TrainingOptions, hyper: dict) -> SimpleNamespace:
    """A run that was trained so."""
    return SimpleNamespace(model="fgcnn", options=vars(options), hyper_parameters=hyper)


def test_a_run_by_the_papers_protocol_is_as_its_settings_say_wherever_it_was_trained(source):
    plan = TrainingPlan(protocol=PAPER)
    options, hyper = plan.options(source.bundle), plan.hyper("fgcnn")
    elsewhere = record_of(TrainingOptions(**{**asdict(options), "device": "cpu"}), hyper)
    assert plan.misfit(elsewhere, source.bundle) == ""
    narrow = record_of(options, {**hyper, "width": [3]})
    assert plan.misfit(narrow, source.bundle) == "width ([3], now [3, 2])"
    longer = record_of(TrainingOptions(**{**asdict(options), "epochs": 30}), hyper)
    assert plan.misfit(longer, source.bundle) == "epochs (30, now 20)"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"models": ("deepmf",)}, "Did you mean 'deepfm'"),
        ({"training_seeds": ()}, "invalid training_seeds: expected whole numbers from 0"),
        ({"training_seeds": (0, -1)}, "invalid training_seeds: expected whole numbers from 0"),
    ],
)
def test_options_that_cannot_be_are_refused(options, says):
    with pytest.raises(FairRecError, match=says):
        ReproduceOptions(**options)


def test_values_are_in_the_order_of_users(subject):
    candidates = subject.scored.candidates
    scores, labels, offsets = candidates.scores, candidates.labels, candidates.offsets
    user = 17
    at = subject.inputs.list_of_user[user]
    own = slice(offsets[at], offsets[at + 1])
    target = scores[own][labels[own] > 0]
    others = scores[own][labels[own] == 0]
    by_hand = np.mean((others < target) + 0.5 * (others == target))
    assert subject.values[subject.metric_names.index("auc"), user] == pytest.approx(by_hand)


FIGURE = "figure-initialise"


def test_trials_are_worked_out_anew_when_the_code_has_changed(tmp_path, monkeypatch):
    def n_worked(changed: str = "") -> int:
        with monkeypatch.context() as patch:
            if changed:
                package = tmp_path / changed.replace("/", "-") / "fairrec"
                shutil.copytree(fairrec.__path__[0], package)
                with (package / changed).open("a") as stream:
                    stream.write("# another line\n")
                patch.setattr(fairrec, "__path__", [str(package)])
            code_sum.cache_clear()
            (done,) = reproduce(
                [FIGURE], tmp_path / "out", datasets=["movielens-1m"], options=QUICK
            )
        assert done.n_trials == 4
        return done.n_worked

    assert n_worked() == 4
    assert n_worked() == 0
    assert n_worked("report/words.py") == 0
    assert n_worked("search/searchers/swarms.py") == 4
    # what was worked out before is still there
    assert n_worked() == 0
