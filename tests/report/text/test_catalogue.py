"""Sentences about the whole catalogue."""

from __future__ import annotations

from fairrec.report.text.catalogue import catalogue_lines
from fairrec.result.catalogue_schema import CatalogueExposure, Representation
from tests.report.items_audits import items_result


def lines(**changed):
    known = {
        "k": 10,
        "n_lists": 1000,
        "n_items": 200,
        "n_shown": 50,
        "gini": 0.8,
        "expected_exposure_loss": 2.5,
        "representation": {"kind": Representation(to_catalogue=0.9, to_relevance=0.95)},
    }
    part = CatalogueExposure(**{**known, **changed})
    return catalogue_lines(items_result().summary.model_copy(update={"catalogue": part}))


def test_all_measures_are_told():
    first, loss, to_catalogue, to_relevance = lines()
    assert "show 50 of 200 items (25%)" in first
    assert "0.8" in first
    assert "2.5" in loss
    assert "kind 0.9" in to_catalogue
    assert "kind 0.95" in to_relevance


def test_what_is_not_known_is_left_out():
    part = {"kind": Representation(to_catalogue=0.9, to_relevance=None)}
    assert len(lines(expected_exposure_loss=None, representation=part)) == 2


def test_nothing_is_said_where_users_are_compared():
    assert catalogue_lines(items_result().summary) == ()
