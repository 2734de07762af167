"""The paper's protocol, as its settings files say it."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec_paper.datasets.bundle import Bundle, Manifest
from fairrec_paper.models.networks import MODELS
from fairrec_paper.models.options import DEEP_MODELS, TrainingOptions
from fairrec_paper.reproduction.data import TITLES
from fairrec_paper.reproduction.protocol import (
    made_from,
    paper_protocol,
    protocol_notes,
    under_protocol,
)


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
    made = under_protocol(ours, protocol)
    assert made.interactions["is_positive"].to_list() == [True] * 4
    assert made.items["item_id"].to_list() == [10, 20]
    assert (made.manifest.n_positive, made.manifest.n_items) == (4, 2)
    assert protocol.features_in(made) == ("gender", "age", "occupation", "zip_code")
    assert protocol_notes(made) == (
        "every interaction is positive, and 1 items without any are left out",
    )


def test_a_name_can_be_the_category_and_prices_are_rounded_down():
    users = {"age": [1, 18], "country": ["Chad", "Peru"], "signup": ["a", "b"]}
    music = bundle_of("lfm360k", users, {"name": ["muse", None, "abba"]})
    made = under_protocol(music, paper_protocol("lfm360k"))
    assert made.items["categories"].to_list() == [["muse"], []]
    items = {"price": [9.99, 20.0, 1.0], "categories": [["a"], ["b"], ["a"]]}
    shop = bundle_of("amazon-electronics", {}, items)
    made = under_protocol(shop, paper_protocol("amazon-electronics"))
    assert made.items["price"].to_list() == [9, 20]


def test_what_the_papers_own_data_lack_is_refused_and_of_stand_ins_it_is_said():
    users = {"age": [1, 18], "occupation": [3, 4]}
    protocol = paper_protocol("movielens-1m")
    with pytest.raises(InputError, match="has no zip_code, which the paper's models see"):
        under_protocol(bundle_of("movielens-1m", users, {}), protocol)
    stand_in = under_protocol(bundle_of("movielens-100k", users, {}), protocol)
    assert protocol_notes(stand_in)[1] == "the paper's models see zip_code, which is not known here"
    assert protocol.features_in(stand_in) == ("gender", "age", "occupation")


def test_other_data_and_other_settings_make_another_bundle():
    bundle, protocol = bundle_of("movielens-100k", {}, {}), paper_protocol("movielens-1m")
    other = replace(bundle, manifest=bundle.manifest.model_copy(update={"sha256": {"users": "b"}}))
    notes = {
        made_from(bundle, protocol),
        made_from(other, protocol),
        made_from(bundle, replace(protocol, sha256="0")),
    }
    assert len(notes) == 3
