from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import fairrec
from tests.builders import audit, one_each, two_groups


def notes(predictions=None, users=None, by="group", **options) -> tuple[str, ...]:
    given = two_groups()
    predictions = given[0] if predictions is None else predictions
    return audit(predictions, given[1] if users is None else users, by, **options).warnings


def test_an_audit_without_oddities_has_no_note():
    assert notes() == ()


def test_users_who_are_missing_are_no_note_but_a_part_of_the_result():
    _, users = two_groups()
    more = pl.DataFrame({"user_id": ["x"], "group": ["odd"]})
    assert notes(users=pl.concat([users, more])) == ()
    assert notes(one_each({f"u{i}": None if i < 2 else 1 for i in range(8)})) == ()


def test_groups_without_a_pooled_value_are_counted():
    (pooled,) = notes(
        one_each({f"u{i}": 1 if i % 2 else None for i in range(8)}), metrics="pooled_auc"
    )
    assert pooled.startswith("pooled_auc is undefined for groups with 4 users in all")


def test_a_gap_that_cannot_be_told_is_noted():
    predictions, users = two_groups(4, a=["x", "x", "y", "y"], b=["p", "q", "p", "q"])
    (said,) = notes(predictions, users, "a,b", min_support=2)
    assert said.startswith("no full combination of the 2 attributes has 2 users")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"permutations": 0}, "no permutations: the null distribution, p-values"),
        ({"permutations": 9}, "9 permutations cannot give a p-value of 0.05; use at least 19"),
    ],
)
def test_tests_that_cannot_find_anything_are_noted(options, says):
    (said,) = notes(**options)
    assert said.startswith(says)


def test_few_permutations_are_not_said_to_find_nothing_where_they_can():
    users = pl.DataFrame({"user_id": range(60), "group": ["a", "b"] * 30})
    values = pl.DataFrame({"user_id": range(60), "clicks": [i % 2 + i / 100 for i in range(60)]})
    result = fairrec.audit(
        values=values, users=users, by="group", statistics=fairrec.Statistics(permutations=19)
    )
    assert [one.p_adjusted for one in result.metric("clicks").findings] == [1 / 20]
    assert not any("permutations" in one for one in result.warnings)


@pytest.mark.parametrize(("alpha", "enough"), [(0.05, 19), (0.07, 14), (0.01, 99), (0.3, 3)])
def test_as_many_permutations_as_are_asked_for_are_enough(alpha, enough):
    (said,) = notes(alpha=alpha, permutations=enough - 1)
    assert said.endswith(f"use at least {enough:,}")
    assert notes(alpha=alpha, permutations=enough) == ()


def test_few_permutations_are_no_note_where_items_are_tested_by_users_drawn_again():
    items = pl.DataFrame({"item_id": range(40), "made": ["here"] * 30 + ["abroad"] * 10})
    lists = pl.DataFrame({"user_id": range(40), "item_id": [[u, (u + 1) % 40] for u in range(40)]})
    found = fairrec.audit(
        lists,
        items=items,
        tables=fairrec.Tables(side="items"),
        by="made",
        statistics=fairrec.Statistics(permutations=9),
    )
    assert found.summary.outcome is not None
    assert not any("permutations" in one for one in found.warnings)


def test_what_is_said_of_a_table_that_is_both_values_and_users_is_said_once(tmp_path: Path):
    path = tmp_path / "v.csv"
    path.write_text("user_id;group;x\na;p;1\nb;q;2\nc;p;3\nd;q;4\n")
    said = "v.csv: fields are separated by a semicolon, not by a comma"
    result = fairrec.audit(
        values=path, by="group", statistics=fairrec.Statistics(permutations=0), min_support=1
    )
    assert result.warnings.count(said) == 1


@pytest.mark.parametrize(("n_last", "is_told"), [(8, True), (7, True), (5, False), (0, False)])
def test_scores_that_put_what_is_relevant_last_are_to_be_checked(n_last, is_told):
    lists = [
        (user, item, item / 10, int(item == (0 if user % 10 < n_last else 9)))
        for user in range(100)
        for item in range(10)
    ]
    predictions = pl.DataFrame(lists, schema=["user_id", "item_id", "score", "label"], orient="row")
    users = pl.DataFrame({"user_id": range(100), "group": ["a", "b"] * 50})
    said = notes(predictions, users, metrics="auc", permutations=99)
    checks = [note for note in said if note.startswith("check: the mean auc is ")]
    assert len(checks) == is_told
    assert all("Higher scores must mean better" in check for check in checks)
