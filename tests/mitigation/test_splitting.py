"""Which targets are chosen by, which are held out, and whose lists are re-ranked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairrec.core.errors import InputError, UnknownNameError
from fairrec.groups.group import Group, is_member
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.users import Attribute
from fairrec.mitigation.options import MitigationOptions
from fairrec.mitigation.splitting import (
    WorstRule,
    choose_worst,
    harm_per_cell,
    metric_names,
    n_shared_targets,
    parse_worst,
    read_groups,
    read_split,
)
from tests.mitigation.planted import attributes_of, full_grouping, planted

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
    assert n_shared_targets(split.choosing, split.reported) == 0


def test_who_has_no_list_is_missing_in_one_half():
    lists = WORLD.predictions.filter(pl.col("user_id") >= 10)
    split = read_split(lists, None, TABLES, seed=0)
    halves = [part.absent.tolist() for part in (split.choosing, split.reported)]
    assert [len(half) for half in halves] == [5, 5]
    assert sorted(halves[0] + halves[1]) == split.everyone.absent.tolist() == [*range(10)]


def test_targets_that_are_in_both_are_counted():
    split = read_split(WORLD.predictions, WORLD.validation, TABLES, seed=0)
    assert split.protocol == "validation targets"
    assert n_shared_targets(split.choosing, split.reported) == 0
    again = read_split(WORLD.predictions, WORLD.predictions, TABLES, seed=0)
    assert n_shared_targets(again.choosing, again.reported) == 60
    assert np.array_equal(again.choosing.candidates.scores, again.reported.candidates.scores)


@pytest.mark.parametrize(
    ("metrics", "items", "has_labels", "names"),
    [
        (None, None, True, ["urd@3", "auc", "mrr@3", "ndcg@3"]),
        (None, "items", False, ["urd@3", "urd@3"]),
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
    with pytest.raises(InputError, match="validation holds candidates with labels, and test what"):
        read_split(WORLD.predictions, WORLD.validation, replace(TABLES, test=WORLD.history), 0)


NAN = np.nan
FOUR = attributes_of([[0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 0, 0, 1, 1]])
VALUES = np.array([0.1, 0.3, 0.5, 0.5, 0.9, 0.9, 0.2, NAN])


def worst_of(values, higher_is_better, rule, min_users=1, attributes=FOUR) -> list[Group]:
    rng = np.random.default_rng(0)
    grouping = full_grouping(attributes, min_users)
    choice = choose_worst(values, grouping, higher_is_better, parse_worst(rule), rng)
    return list(choice.groups)


def test_worst_are_those_with_the_lowest_mean_where_higher_is_better():
    # means: a0 b0 0.2, a0 b1 0.5, a1 b0 0.9, a1 b1 0.2 of one user
    assert worst_of(VALUES, True, "worst:1", min_users=2) == [Group.of(a="a0", b="b0")]
    assert worst_of(VALUES, True, "worst:50%", min_users=2) == [
        Group.of(a="a0", b="b0"),
        Group.of(a="a0", b="b1"),
    ]


def test_ties_go_to_the_first_combination():
    assert worst_of(VALUES, True, "worst:2") == [
        Group.of(a="a0", b="b0"),
        Group.of(a="a1", b="b1"),
    ]
    assert worst_of(np.full(8, 0.5), False, "worst:1") == [Group.of(a="a0", b="b0")]


def test_worst_are_those_with_the_highest_mean_where_lower_is_better():
    assert worst_of(VALUES, False, "worst:1") == [Group.of(a="a1", b="b0")]


def test_worst_are_those_furthest_from_the_others_where_no_end_is_better():
    values = np.array([5.0, 5.0, 5.0, 5.0, 9.0, 9.0, -3.0, -3.0])
    # from the others: 1.33, 1.33, 6.67 and -9.33
    assert worst_of(values, None, "worst:2") == [
        Group.of(a="a1", b="b1"),
        Group.of(a="a1", b="b0"),
    ]


def test_too_few_defined_values_make_no_group():
    with pytest.raises(InputError, match=r"has 3 users with a value to choose by. Lower min_sup"):
        worst_of(VALUES, True, "worst:1", min_users=3)
    with pytest.raises(InputError, match="has 1 users with a value"):
        worst_of(np.full(8, NAN), True, "worst:1")


@pytest.mark.parametrize("higher_is_better", [True, False, None])
@pytest.mark.parametrize("seed", range(3))
def test_users_to_tune_on_took_no_part_in_choosing_their_group(seed, higher_is_better):
    """Whatever their values are, the same groups have been chosen for them."""
    rng = np.random.default_rng(seed)
    n = 200
    attributes = attributes_of([rng.integers(0, 2, n), rng.integers(0, 3, n)])
    values = rng.normal(size=n)
    about = (full_grouping(attributes, 5), higher_is_better, WorstRule(number=2))
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


def test_in_noise_the_users_to_tune_on_are_ordinary():
    """Those the groups were chosen by are worse than the rest; those to tune on are not."""
    chosen_by, tuned_on = [], []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        attributes = attributes_of([rng.integers(0, 2, 120), rng.integers(0, 3, 120)])
        values = rng.normal(size=120)
        grouping = full_grouping(attributes, 1)
        choice = choose_worst(values, grouping, True, WorstRule(number=1), rng)
        tuned_on.append(values[choice.is_tuned].mean())
        chosen_by.append(values[is_member(choice.groups[0], attributes)].mean())
    error = np.std(tuned_on) / 10
    assert abs(np.mean(tuned_on)) < 3 * error
    assert np.mean(chosen_by) < -0.15 < -3 * error


NAN = np.nan


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("worst:10%", WorstRule(share=0.1)),
        ("worst:2.5%", WorstRule(share=0.025)),
        ("worst:100%", WorstRule(share=1.0)),
        ("worst:5", WorstRule(number=5)),
        ("findings", None),
        ("groups.csv", None),
        ("worst.csv", None),
        ("worst groups.parquet", None),
    ],
)
def test_rule_is_read(text, rule):
    assert parse_worst(text) == rule


@pytest.mark.parametrize(
    "text",
    [
        "worst",
        "worst:0",
        "worst:0%",
        "worst:101%",
        "worst:-1",
        "worst:x",
        "worst10%",
        "worst:1e3",
        "worst:9999999999",
    ],
)
def test_rule_that_cannot_be_is_refused(text):
    with pytest.raises(ValueError, match="worst"):
        parse_worst(text)


@pytest.mark.parametrize(
    ("rule", "n_eligible", "n_groups"),
    [("10%", 152, 15), ("10%", 3, 1), ("10%", 1, 1), ("100%", 7, 7), ("5", 3, 3), ("2", 9, 2)],
)
def test_number_of_groups(rule, n_eligible, n_groups):
    assert len(parse_worst(f"worst:{rule}").worst_cells(np.zeros(n_eligible))) == n_groups


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
    worst = WorstRule(number=2).worst_cells(harm)
    known = np.flatnonzero(~np.isnan(harm))
    assert worst.tolist() == sorted(known, key=lambda c: -harm[c])[:2]


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


def members_of(path: Path) -> list[list[int]]:
    return [np.flatnonzero(is_member(g, PEOPLE)).tolist() for g in read_groups(path, PEOPLE)]


def test_groups_of_a_csv_file(tmp_path):
    path = file_of(tmp_path, "gender,age,member\nF,,\n,25,\nM,25,true\n,18,\n")
    assert [g.label for g in read_groups(path, PEOPLE)][:2] == ["gender=F", "age=25"]
    assert members_of(path) == [[0], [1], [1], [0]]


def test_text_that_looks_like_a_number_is_kept(tmp_path):
    assert members_of(file_of(tmp_path, "code\n007\n7\n")) == [[0], [1]]


def test_groups_of_a_parquet_file(tmp_path):
    path = tmp_path / "groups.parquet"
    table = {"age": [25, None], "gender": [None, "F"], "member": [None, False]}
    pl.DataFrame(table).write_parquet(path)
    assert members_of(path) == [[1], [0]]


def test_whole_numbers_stored_as_floats_are_found(tmp_path):
    # pandas stores whole numbers with a gap so
    path = tmp_path / "groups.parquet"
    pl.DataFrame({"age": [25.0, None], "gender": [None, "F"]}).write_parquet(path)
    assert members_of(path) == [[1], [0]]
    assert members_of(file_of(tmp_path, "age,gender\n25.0,\n,F\n")) == [[1], [0]]


def test_a_group_named_twice_counts_once_and_the_table_of_an_audit_will_do(tmp_path):
    path = file_of(tmp_path, "age,gender,metric,value\n25,M,auc,0.5\n25,M,mrr@5,0.1\n")
    assert read_groups(path, PEOPLE) == [Group.of(gender="M", age=25)]


def test_a_column_that_is_no_attribute_is_refused(tmp_path):
    # left out, the group would be wider than it was meant to be
    path = file_of(tmp_path, "gender,agee\nM,25\n")
    with pytest.raises(UnknownNameError, match=r"No attribute 'agee'\. Did you mean 'age'"):
        read_groups(path, PEOPLE)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sex,years\nF,25\n", r"groups.csv: no column is an attribute of this audit \(gender, age"),
        ("gender,age\nF,25\n,\n", r"groups.csv, row 2: the group has no condition. Fill in one."),
        ("gender\n", "groups.csv: the table is empty"),
        ("", "groups.csv: cannot be read as CSV"),
    ],
)
def test_bad_groups_are_refused(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_groups(file_of(tmp_path, text), PEOPLE)
