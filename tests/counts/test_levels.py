from __future__ import annotations

import numpy as np
import pytest

from fairrec.core.errors import InputError
from fairrec.counts.levels import (
    has_steps,
    kept_on,
    level_of,
    levels_of,
    levels_text,
    read_levels,
    steps_between,
    suggested_levels,
)
from fairrec.metrics.parsing import parse_metric


def test_a_metric_with_bounds_is_cut_in_steps_that_are_finer_at_both_ends():
    (edges,) = levels_of([parse_metric("ndcg@5")], {}).values()
    assert len(edges) == 40 + 64 + 40
    assert (np.diff(edges) > 0).all()
    # the first step and the last are cut four times an octave
    values = np.array([0.0, 1 / 128, 1 / 64, 0.5, 63 / 64, 127 / 128, 0.999999, 1.0])
    assert level_of(values, edges).tolist() == [0, 37, 41, 72, 103, 107, 143, 144]


@pytest.mark.parametrize("mean", [0.0005, 0.005, 0.05, 0.5, 0.995])
def test_steps_keep_the_spread_of_metrics_that_are_near_a_bound(mean):
    values = np.random.default_rng(1).beta(1, (1 - mean) / mean, 5000)
    edges = steps_between(0.0, 1.0)
    equal = np.arange(1, 65) / 64
    assert kept_on(edges, values) > 0.985
    assert kept_on(edges, values) >= kept_on(equal, values)
    if mean < 0.01:
        assert kept_on(equal, values) < 0.7


def test_steps_are_finer_around_0_where_that_is_between_the_bounds():
    edges = steps_between(-100.0, 100.0)
    assert (np.diff(edges) > 0).all()
    assert edges[[0, -1]].tolist() == [-100.0, 100.0]
    assert kept_on(edges, np.random.default_rng(1).normal(0, 0.3, 5000)) > 0.99
    assert kept_on(edges, np.zeros(3)) == 1.0


def test_own_edges_take_the_place_of_steps_and_must_be_of_a_metric():
    own = {"auc": np.array([0.5])}
    assert levels_of([parse_metric("auc")], own)["auc"].tolist() == [0.5]
    with pytest.raises(InputError, match="ndcg"):
        levels_of([parse_metric("auc")], {"ndcg": np.array([0.5])})


def test_a_metric_without_bounds_has_no_steps():
    urp = parse_metric("urp")
    assert has_steps(parse_metric("auc"))
    assert has_steps(urp) is (urp.metric.bounds is not None)


@pytest.mark.parametrize("power", [0.5, 1, 3])
def test_suggested_levels_keep_the_spread_of_a_long_tail(power):
    values = np.random.default_rng(0).exponential(1, 6400) ** power
    edges = np.array(suggested_levels(values))
    assert len(edges) < 64 + 14
    n = np.bincount(level_of(values, edges))
    assert n.max() <= 6400 / 32 + 1
    assert kept_on(edges, values) > 0.998
    # as many users on each level are not enough
    if power == 3:
        assert kept_on(np.quantile(values, np.arange(1, 64) / 64), values) < 0.9


@pytest.mark.parametrize(("n_group", "shift"), [(500, 0.2), (100, 0.4), (20, 1.0)])
def test_suggested_levels_tell_a_small_group_from_all_others_that_is_below_them(n_group, shift):
    values = np.random.default_rng(2).exponential(1, 10_000)
    values[:n_group] -= shift
    level = level_of(values, np.array(suggested_levels(values)))
    mean = np.bincount(level, values) / np.maximum(np.bincount(level), 1)
    left, whole = (row[:n_group].mean() - row.mean() for row in (mean[level], values))
    assert left / whole == pytest.approx(1.0, abs=0.05)


def test_levels_are_written_and_read(tmp_path):
    edges = suggested_levels(np.random.default_rng(0).exponential(1, 640))
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
        f"revenue = [1, {'9' * 400}]",
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
