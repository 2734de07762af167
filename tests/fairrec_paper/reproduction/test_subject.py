"""A recommender on a data set is loaded when needed and let go for the next."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fairrec.core.errors import InputError
from fairrec_paper.models.options import TrainingOptions
from fairrec_paper.models.training import train
from fairrec_paper.reproduction.protocol import TrainingPlan, paper_protocol
from fairrec_paper.reproduction.subject import Shelf, Subject
from tests.fairrec_paper.reproduction.trial_rows import silent


def test_the_next_subject_takes_the_place_of_the_one_before(source, tmp_path):
    shelf = Shelf()
    first, second = (Subject(source, "taste", tmp_path, shelf=shelf) for _ in range(2))
    assert first.inputs.n_users == 240
    assert "recommender" in first.__dict__
    assert second.recommender is not None
    assert {"recommender", "inputs"}.isdisjoint(first.__dict__)


def test_without_training_the_data_name_it(subject, source):
    identity = subject.identity(silent)
    assert identity == {
        "model": "taste",
        "data": source.bundle.manifest.sha256,
        "protocol": "ours",
        "training_seed": 0,
        "data_seed": 0,
    }
    assert subject.folder.name == f"{source.key}-taste"


def test_values_are_in_the_order_of_users(subject):
    candidates = subject.scored.candidates
    scores, labels, offsets = candidates.scores, candidates.labels, candidates.offsets
    user = 17
    at = subject.inputs.list_of_user[user]
    own = slice(offsets[at], offsets[at + 1])
    target = scores[own][labels[own] > 0]
    others = scores[own][labels[own] == 0]
    by_hand = np.mean((others < target) + 0.5 * (others == target))
    assert subject.values[subject.metrics.index("auc"), user] == pytest.approx(by_hand)


def test_a_space_can_be_of_some_attributes(subject):
    assert subject.space(0.001).n_combinations == 2 * 3 * 3
    assert subject.space(0.001, ["age"]).n_combinations == 3
    assert len(subject.space(0.5, ["age"]).full) <= 1


def test_a_folder_with_another_run_is_refused(source, tmp_path):
    hyper = {"embedding": 2, "layers": (4,)}
    options = TrainingOptions(epochs=1, batch_size=4096)
    train(source.bundle, "dcn", tmp_path / f"{source.key}-deepfm", hyper, options)
    with pytest.raises(InputError, match="holds a run of another model or of other data"):
        Subject(source, "deepfm", tmp_path).trained(silent)


def test_a_training_with_another_seed_has_a_folder_of_its_own(source, tmp_path):
    first, second = (
        Subject(source, "deepfm", tmp_path, TrainingPlan(quick=True, seed=seed)) for seed in (0, 3)
    )
    assert second.folder.name == f"{first.folder.name}-seed3"
    identities = [subject.identity(silent) for subject in (first, second)]
    assert [one["training_seed"] for one in identities] == [0, 3]
    differ = {name for name in identities[0] if identities[0][name] != identities[1][name]}
    # the targets, candidates and histories are the same
    assert differ == {"training_seed", "model.safetensors"}
    second.folder.rename(tmp_path / "aside")
    first.folder.rename(second.folder)
    with pytest.raises(InputError, match=r"holds a run with another seed \(0, now 3\)"):
        second.trained(silent)


def test_testsgd_looks_at_decades_where_the_papers_settings_say_so(source, tmp_path):
    protocol = replace(paper_protocol("movielens-1m"), by_decade=("age",))
    subject = Subject(source, "taste", tmp_path, TrainingPlan(protocol=protocol))
    # ages 18, 25 and 35 are three, and three decades; occupations stay what they are
    ages = subject.space(0.001, ["age"], testsgd=True).attributes[0]
    assert {*ages.values} == {"10-19", "20-29", "30-39"}
    assert "25" in subject.space(0.001, ["age"]).attributes[0].values
    ours = Subject(source, "taste", tmp_path)
    assert "25" in ours.space(0.001, ["age"], testsgd=True).attributes[0].values
