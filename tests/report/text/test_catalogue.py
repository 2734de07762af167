"""Sentences about the whole catalogue."""

from __future__ import annotations

from fairrec.report.text.view import catalogue_lines
from fairrec.statistics.inequality import CatalogueExposure, ItemsShown, Representation
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


def test_kinds_of_items_that_are_seldom_shown_are_named_least_first():
    kinds = {"a": (40, 2), "b": (60, 6), "all": (80, 70), "few": (3, 0)}
    genres = {"yes": (20, 0), "no": (180, 18)}
    told = [
        Representation(
            to_catalogue=0.9,
            to_relevance=None,
            shown={v: ItemsShown(n_items=n, n_shown=m) for v, (n, m) in one.items()},
        )
        for one in (kinds, genres)
    ]
    said = lines(representation={"kind": told[0], "genres[news]": told[1]})[1]
    assert said == (
        "The smallest shares shown at all: genres[news]=yes 0 of 20 (0%); kind=a 2 of 40 (5%); "
        "kind=b 6 of 60 (10%)."
    )


def test_items_without_any_of_several_values_are_one_kind():
    shown = {
        "yes": ItemsShown(n_items=90, n_shown=45),
        "no": ItemsShown(n_items=80, n_shown=5),
        "(missing)": ItemsShown(n_items=30, n_shown=0),
    }
    about = Representation(to_catalogue=0.9, to_relevance=None, shown=shown)
    said = lines(representation={"genres[news]": about, "genres[war]": about})[1]
    assert said == "The smallest shares shown at all: genres=(missing) 0 of 30 (0%)."


def test_what_is_not_known_is_left_out():
    part = {"kind": Representation(to_catalogue=0.9, to_relevance=None)}
    assert len(lines(expected_exposure_loss=None, representation=part)) == 2


def test_nothing_is_said_where_users_are_compared():
    assert catalogue_lines(items_result().summary) == ()
