"""The split of the targets, and the choice of groups."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairrec.core.errors import FairRecError, InputError
from fairrec.groups.group import Group, is_member
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.users import Attribute
from fairrec.mitigation.choosing import (
    choose_worst,
    harm_per_cell,
    is_worst_rule,
    metric_names,
    n_shared_targets,
    read_groups,
    read_split,
)
from fairrec.mitigation.options import MitigationOptions
from tests.mitigation.planted import attributes_of, full_grouping, planted

NAN = np.nan
WORLD = planted("accuracy", n_users=60)
TABLES = TableOptions(users=WORLD.users, by="gender", metrics=["ndcg@5"])


def test_without_validation_targets_each_user_is_in_one_half():
    split = read_split(WORLD.predictions, None, TABLES, seed=0)
    assert split.protocol == "halves of the users"
    halves = [set(part.user_ids) for part in (split.choosing, split.reported)]
    assert [len(half) for half in halves] == [30, 30]
    assert halves[0] | halves[1] == set(split.everyone.user_ids)
    other = read_split(WORLD.predictions, None, TABLES, seed=1)
    assert set(other.choosing.user_ids) != halves[0]
    assert n_shared_targets(split) == 0


def test_who_has_no_list_is_missing_in_one_half():
    lists = WORLD.predictions.filter(pl.col("user_id") >= 10)
    split = read_split(lists, None, TABLES, seed=0)
    halves = [part.absent.tolist() for part in (split.choosing, split.reported)]
    assert [len(half) for half in halves] == [5, 5]
    assert sorted(halves[0] + halves[1]) == split.everyone.absent.tolist() == [*range(10)]


@pytest.mark.parametrize(
    ("metrics", "items", "has_labels", "names"),
    [
        (None, None, True, ["urd@3", "auc", "mrr@3", "ndcg@3"]),
        (None, "items", False, ["urd@3"]),
        ("hit@5,auc", None, True, ["hit@5", "auc", "urd@3", "ndcg@3"]),
    ],
)
def test_the_target_and_its_cost_are_always_measured(metrics, items, has_labels, names):
    plan = MitigationOptions("urd@3")
    tables = replace(TABLES, metrics=metrics, items=items)
    bare = WORLD.predictions.drop("label")
    predictions = WORLD.predictions if has_labels else bare
    assert metric_names(plan, tables, predictions, None) == names
    assert metric_names(plan, tables, predictions, WORLD.validation) == names
    if has_labels and metrics is None:
        # labels have to be in both
        assert metric_names(plan, tables, predictions, bare) == ["urd@3"]


def test_held_out_items_are_relevant_without_labels_and_give_no_auc():
    plan = MitigationOptions("urd@3")
    bare = WORLD.predictions.drop("label")
    tables = replace(TABLES, metrics=None, test=WORLD.history)
    assert metric_names(plan, tables, bare, None) == ["urd@3", "mrr@3", "ndcg@3"]
    compared = replace(TABLES, metrics=None, relevant="score>=1")
    assert metric_names(plan, compared, bare, None) == ["urd@3", "auc", "mrr@3", "ndcg@3"]


def test_validation_targets_and_held_out_interactions_exclude_each_other():
    with pytest.raises(InputError, match="validation holds candidates with labels, test the held"):
        read_split(WORLD.predictions, WORLD.validation, replace(TABLES, test=WORLD.history), 0)


FOUR = attributes_of([[0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 0, 0, 1, 1]])
VALUES = np.array([0.1, 0.3, 0.5, 0.5, 0.9, 0.9, 0.2, NAN])


def worst_of(values, higher_is_better, rule, min_users=1, attributes=FOUR) -> list[Group]:
    rng = np.random.default_rng(0)
    grouping = full_grouping(attributes, min_users)
    choice = choose_worst(values, grouping, higher_is_better, rule, rng)
    return list(choice.groups)


# of a0 b0 0.2, of a0 b1 0.5, of a1 b0 0.9, of a1 b1 0.2 of one user
@pytest.mark.parametrize(
    ("values", "higher_is_better", "rule", "min_users", "expected"),
    [
        (VALUES, True, "worst:1", 2, [(0, 0)]),
        (VALUES, True, "worst:50%", 2, [(0, 0), (0, 1)]),
        (VALUES, False, "worst:1", 1, [(1, 0)]),
        # ties go to the first combination
        (VALUES, True, "worst:2", 1, [(0, 0), (1, 1)]),
        (np.full(8, 0.5), False, "worst:1", 1, [(0, 0)]),
        # where no end is better, from the others: 1.33, 1.33, 6.67 and -9.33
        (np.repeat([5.0, 9.0, -3.0], [4, 2, 2]), None, "worst:2", 1, [(1, 1), (1, 0)]),
    ],
)
def test_the_worst_served_intersections_are_chosen(
    values, higher_is_better, rule, min_users, expected
):
    found = worst_of(values, higher_is_better, rule, min_users)
    assert found == [Group.of(a=f"a{a}", b=f"b{b}") for a, b in expected]


def test_too_few_defined_values_make_no_group():
    with pytest.raises(InputError, match=r"has 3 users with a value to choose by. Lower min_sup"):
        worst_of(VALUES, True, "worst:1", min_users=3)


@pytest.mark.parametrize("higher_is_better", [True, False, None])
@pytest.mark.parametrize("seed", range(3))
def test_users_to_tune_on_took_no_part_in_choosing_their_group(seed, higher_is_better):
    """Whatever their values are, the same groups have been chosen for them."""
    rng = np.random.default_rng(seed)
    n = 200
    attributes = attributes_of([rng.integers(0, 2, n), rng.integers(0, 3, n)])
    values = rng.normal(size=n)
    about = (full_grouping(attributes, 5), higher_is_better, "worst:2")
    choice = choose_worst(values, *about, np.random.default_rng(seed))
    assert choice.is_tuned.any()
    for user in rng.permutation(np.flatnonzero(choice.is_tuned))[:5]:
        other = values.copy()
        other[user] = rng.choice([-1e9, 1e9])
        again = choose_worst(other, *about, np.random.default_rng(seed))
        assert again.is_tuned[user]
    # they belong to groups that are tuned on
    in_groups = np.any([is_member(g, attributes) for g in choice.tuned_groups], axis=0)
    assert in_groups[choice.is_tuned].all()


def test_a_rule_is_told_from_a_file():
    assert all(map(is_worst_rule, ("worst:10%", "worst:2.5%", "worst:100%", "worst:5")))
    assert not any(map(is_worst_rule, ("findings", "groups.csv", "worst groups.parquet")))


@pytest.mark.parametrize(
    "text",
    ["worst", "worst:0", "worst:0%", "worst:101%", "worst:-1", "worst:x", "worst10%", "worst:1.5"],
)
def test_rule_that_cannot_be_is_refused(text):
    with pytest.raises(ValueError, match="worst"):
        is_worst_rule(text)


@given(st.integers(0, 1000), st.sampled_from([True, False, None]))
def test_harm_equals_a_loop_over_combinations(seed, higher_is_better):
    rng = np.random.default_rng(seed)
    attributes = attributes_of([rng.integers(0, 2, 40), rng.integers(0, 3, 40)])
    values = np.where(rng.random(40) < 0.3, NAN, rng.normal(size=40))
    cells = full_grouping(attributes).cells
    harm = harm_per_cell(values, cells, higher_is_better, 3)
    for cell in range(len(cells)):
        mine = values[(cells.of_user == cell) & ~np.isnan(values)]
        others = values[(cells.of_user != cell) & ~np.isnan(values)]
        if len(mine) < 3:
            assert np.isnan(harm[cell])
            continue
        expected = {
            True: -mine.mean(),
            False: mine.mean(),
            None: abs(mine.mean() - others.mean()) if len(others) else NAN,
        }[higher_is_better]
        assert harm[cell] == pytest.approx(expected, nan_ok=True)


PEOPLE = (
    Attribute("gender", np.array([0, 1]), ("F", "M")),
    Attribute("age", np.array([0, 1]), (18, 25)),
    Attribute("member", np.array([0, 1]), (False, True)),
    Attribute("code", np.array([0, 1]), ("007", "7")),
)


def file_of(folder: Path, text: str) -> Path:
    path = folder / "groups.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_groups_are_rows_of_a_table(tmp_path):
    def members_of(path: Path) -> list[list[int]]:
        return [np.flatnonzero(is_member(g, PEOPLE)).tolist() for g in read_groups(path, PEOPLE)]

    path = file_of(tmp_path, "gender,age,member\nF,,\n,25,\nM,25,true\n,18,\n")
    assert [g.label for g in read_groups(path, PEOPLE)][:2] == ["gender=F", "age=25"]
    assert members_of(path) == [[0], [1], [1], [0]]
    # text that looks like a number is kept
    assert members_of(file_of(tmp_path, "code\n007\n7\n")) == [[0], [1]]
    path = tmp_path / "groups.parquet"
    # pandas stores whole numbers with a gap as floats
    for ages in ([25, None], [25.0, None]):
        table = {"age": ages, "gender": [None, "F"], "member": [None, False]}
        pl.DataFrame(table).write_parquet(path)
        assert members_of(path) == [[1], [0]]
    # one named twice counts once, and the table that an audit writes will do
    path = file_of(tmp_path, "age,gender,metric,value\n25,M,auc,0.5\n25,M,mrr@5,0.1\n")
    assert read_groups(path, PEOPLE) == [Group.of(gender="M", age=25)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sex,years\nF,25\n", r"groups.csv: no column is an attribute of this audit \(gender, age"),
        ("gender,age\nF,25\n,\n", r"groups.csv, row 2: the group has no condition. Fill in one."),
        ("gender\n", "groups.csv: the table is empty"),
        # left out, the group would be wider than it was meant to be
        ("gender,agee\nM,25\n", r"No attribute 'agee'\. Did you mean 'age'"),
    ],
)
def test_bad_groups_are_refused(tmp_path, text, message):
    with pytest.raises(FairRecError, match=message):
        read_groups(file_of(tmp_path, text), PEOPLE)
