from __future__ import annotations

import numpy as np
import pytest

from fairrec.core.errors import InputError
from fairrec.counts.levels import (
    has_steps,
    level_of,
    levels_of,
    levels_text,
    read_levels,
    steps_between,
    suggested_levels,
)
from fairrec.metrics.registry import parse_metric


def test_a_metric_with_bounds_is_cut_in_equal_steps_and_its_best_value_stands_alone():
    (edges,) = levels_of([parse_metric("ndcg@5")], {}).values()
    assert len(edges) == 64
    values = np.array([0.0, 1 / 128, 1 / 64, 0.5, 63.9 / 64, 1.0])
    assert level_of(values, edges).tolist() == [0, 0, 1, 32, 63, 64]


def test_own_edges_take_the_place_of_steps_and_must_be_of_a_metric():
    own = {"auc": np.array([0.5])}
    assert levels_of([parse_metric("auc")], own)["auc"].tolist() == [0.5]
    with pytest.raises(InputError, match="ndcg"):
        levels_of([parse_metric("auc")], {"ndcg": np.array([0.5])})


def test_a_metric_without_bounds_has_no_steps():
    urp = parse_metric("urp")
    assert has_steps(parse_metric("auc"))
    assert has_steps(urp) is (urp.metric.bounds is not None)
    assert steps_between(-1.0, 1.0)[[0, -1]].tolist() == [-1 + 2 / 64, 1.0]


def test_suggested_levels_hold_about_as_many_users_each(tmp_path):
    values = np.random.default_rng(0).exponential(1, 6400)
    edges = suggested_levels(values)
    n = np.bincount(level_of(values, np.array(edges)), minlength=64)
    assert (n.min(), n.max()) == (pytest.approx(100, abs=3), pytest.approx(100, abs=3))
    file = tmp_path / "levels.toml"
    file.write_text(levels_text({"revenue": edges, "a b": [1.0]}))
    found = read_levels(file)
    assert found["revenue"].tolist() == edges
    assert found["a b"].tolist() == [1.0]
    assert suggested_levels(np.array([np.nan])) == []
    assert suggested_levels(np.zeros(5)) == []


@pytest.mark.parametrize(
    "text",
    [
        "revenue = 3",
        "revenue = [3, 2]",
        "revenue = ['a']",
        "revenue = [1, inf]",
        "revenue = []",
        "",
    ],
)
def test_what_is_no_list_of_rising_numbers_is_refused(text, tmp_path):
    file = tmp_path / "levels.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=r"revenue = \[1, 10, 100\]"):
        read_levels(file)


def test_a_file_that_is_not_there_or_no_toml_is_refused(tmp_path):
    with pytest.raises(InputError, match="Check the path"):
        read_levels(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("= 3")
    with pytest.raises(InputError, match="no TOML"):
        read_levels(tmp_path / "bad.toml")
    assert read_levels(None) == {}


def test_edges_of_any_size_are_read(tmp_path):
    (tmp_path / "levels.toml").write_text("spent = [1, 99999999999999999999999999]")
    assert read_levels(tmp_path / "levels.toml")["spent"].tolist() == [1.0, 1e26]
