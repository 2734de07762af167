"""The options that name tables, and the users and lists that are read from them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec.inputs.audit_inputs import AuditInputs, open_tables, read_tables
from fairrec.inputs.table_options import TableOptions
from tests.builders import one_each

USERS = pl.DataFrame(
    {"user_id": ["d", "b", "a", "c"], "age": [40, 20, 10, 30], "job": ["x", "y", "x", "y"]}
)
PREDICTIONS = one_each({"c": 1, "a": 2, "d": 3}, n_candidates=3)


def read(by: str = "age,job", **options) -> AuditInputs:
    given = TableOptions(users=USERS, by=by)
    return read_tables(open_tables(PREDICTIONS, given), given, needs={"labels"}, **options)


def test_users_are_sorted_by_id_and_know_their_lists():
    inputs = read()
    assert inputs.user_ids.to_list() == ["a", "c", "d"]
    assert inputs.list_of_user.tolist() == [1, 0, 2]
    assert inputs.user_of_list.tolist() == [1, 0, 2]
    assert inputs.ids_of_lists.to_list() == ["c", "a", "d"]
    ages = inputs.attributes[0]
    assert [ages.values[code] for code in ages.codes] == [10, 30, 40]
    # b, who has no list, is the second of the users in the order of their ids
    assert inputs.absent.tolist() == [1]
    assert inputs.rows.tolist() == [0, 2, 3]
    assert inputs.is_expected.all() and not inputs.is_without_list.any()
    assert inputs.described.by == ("age", "job")


def test_everyone_is_also_whoever_has_no_predictions():
    ids, (ages, _) = read().everyone()
    assert ids.to_list() == ["a", "b", "c", "d"]
    assert [ages.values[code] for code in ages.codes] == [10, 20, 30, 40]
    # quantiles are those of the audited users, so nobody else has a bin
    ids, (ages,) = read("age:q2").everyone()
    assert ids.to_list() == ["a", "c", "d"]
    assert len(ages.codes) == 3


def test_some_users_keep_their_attributes_lists_and_scores():
    inputs = read()
    some = inputs.for_users(np.array([0, 2]))
    assert some.user_ids.to_list() == ["a", "d"]
    assert some.n_users == 2
    assert some.candidates.labels.tolist() == [0, 1, 0, 0, 0, 1]
    assert some.candidates.scores.tolist() == [3, 2, 1] * 2
    ages = some.attributes[0]
    assert [ages.values[code] for code in ages.codes] == [10, 40]
    assert some.user_of_list.tolist() == [0, 1]
    assert some.rows.tolist() == [0, 3]
    assert some.is_expected.tolist() == [True, True]


@pytest.mark.parametrize("missing", ["predictions", "users"])
def test_a_table_that_is_not_given_is_asked_for(missing):
    given = {"predictions": PREDICTIONS, "users": USERS, missing: None}
    with pytest.raises(InputError, match=f"The {missing} table is missing"):
        open_tables(given["predictions"], TableOptions(users=given["users"]))


def test_an_attribute_with_a_reserved_name_is_refused():
    with pytest.raises(InputError, match="'job' has the name of a column of the result"):
        read(reserved=("job", "value"))


GIVEN_WRONG = [
    ("by", None, "names, with commas between them, got None"),
    ("by", 5, "names, with commas between them, got 5"),
    ("columns", 5, "name=column, such as user_id=uid, got 5"),
    ("columns", "a", "name=column, such as user_id=uid, got 'a'"),
]


@pytest.mark.parametrize(("name", "given", "says"), GIVEN_WRONG)
def test_what_names_nothing_is_refused_in_words(name, given, says):
    with pytest.raises(InputError) as caught:
        TableOptions(**{name: given})
    assert str(caught.value) == f"invalid {name}: expected {says}"


@pytest.mark.parametrize("metrics", ["", " , ", [], ()])
def test_a_list_of_metrics_without_any_is_refused(metrics):
    with pytest.raises(InputError, match=r"^No metric is named\. Example: metrics=\['auc'"):
        TableOptions(metrics=metrics)
    with pytest.raises(InputError, match=r"^No metric is named\. Example: metrics=\['churn'\]$"):
        TableOptions(metrics=metrics, values="churn.csv")
