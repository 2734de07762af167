"""Which items are relevant, by a condition: `rating>=4`."""

from __future__ import annotations

import operator

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairrec.core.errors import InputError
from fairrec.inputs.columns import Relevance, compared_column, suggest_threshold
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.tables import Table
from tests.builders import audit, make_tables, numbers_of

LOOPS = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
    "=": operator.eq,
    "!=": operator.ne,
}


@pytest.mark.parametrize("comparison", LOOPS)
def test_every_comparison_is_that_of_a_loop(comparison):
    numbers = np.array([1.0, 2.0, 2.5, 3.0, -2.5])
    condition = Relevance.of(f"x {comparison} 2.5")
    assert (condition.column, condition.comparison, condition.threshold) == ("x", comparison, 2.5)
    assert condition.met_by(numbers).tolist() == [LOOPS[comparison](n, 2.5) for n in numbers]


@pytest.mark.parametrize(
    ("text", "column", "threshold"),
    [
        (" rating >= 4 ", "rating", 4),
        ("my column>-1.5", "my column", -1.5),
        ("x=0", "x", 0),
    ],
)
def test_spaces_signs_and_odd_names_are_understood(text, column, threshold):
    found = Relevance.of(text)
    assert (found.column, found.threshold) == (column, threshold)


@pytest.mark.parametrize(
    "given_as",
    ["rating", "rating>=", ">4", "rating>=four", "", 4, True, "x>=nan", "x>=inf", "x>=4_0"],
)
def test_what_compares_nothing_is_refused_with_an_example(given_as):
    tables = make_tables()
    with pytest.raises(
        InputError, match=r"^invalid relevant: expected a column compared with a number, such as "
    ):
        audit(*tables[:2], "gender", relevant=given_as)


@given(
    column=st.sampled_from(["rating", "a b", "r-1"]),
    comparison=st.sampled_from(list(LOOPS)),
    threshold=st.floats(allow_nan=False, allow_infinity=False),
)
def test_a_condition_written_down_and_read_again_is_the_same(column, comparison, threshold):
    condition = Relevance(column, comparison, threshold)
    assert Relevance.of(str(condition)) == condition
    assert Relevance.of(condition) is condition


def test_whole_numbers_are_written_as_such_and_times_to_the_second():
    assert str(Relevance.of("rating>=4.0")) == "rating>=4"
    assert str(Relevance.of("time>=1612345678")) == "time>=1612345678"


@pytest.mark.parametrize(
    ("columns", "mapping", "asked", "found"),
    [
        (["stars"], {}, "stars", "stars"),
        (["rating:float"], {}, "rating", "rating:float"),
        (["Ratings"], {}, "rating", "Ratings"),
        (["relevance"], {}, "label", "relevance"),
        (["stars"], {"rating": "stars"}, "rating", "stars"),
    ],
)
def test_the_column_is_found_by_its_name_or_one_it_is_known_by(columns, mapping, asked, found):
    table = Table(pl.DataFrame({name: [1] for name in columns}), "test", mapping)
    assert compared_column(table, Relevance.of(f"{asked}>1")) == found


def test_a_column_that_is_not_there_is_named_with_those_that_are():
    table = Table(pl.DataFrame({"user_id": [1], "stars": [4]}), "test", {})
    with pytest.raises(InputError) as caught:
        compared_column(table, Relevance.of("ratings>=4"))
    assert str(caught.value) == (
        "the test table: no column 'ratings', which relevant='ratings>=4' compares. "
        "Columns here: user_id, stars."
    )


def test_a_condition_on_candidates_gives_the_labels_made_by_hand():
    tables = make_tables()
    graded = tables.predictions.with_columns(stars=(pl.col("score") * 5).round(1))
    by_hand = graded.with_columns(label=(pl.col("stars") >= 2.5).cast(pl.Int8)).drop("stars")
    metrics = "auc,mrr,ndcg,recall"
    asked = audit(graded, tables.users, "gender", metrics=metrics, relevant="stars>=2.5")
    expected = audit(by_hand, tables.users, "gender", metrics=metrics)
    assert asked.summary.relevant == "stars>=2.5"
    changed = {"relevant": None}
    assert {**numbers_of(asked), **changed} == numbers_of(expected)


@pytest.mark.parametrize(
    ("low", "high", "threshold"),
    [(1, 5, "4"), (0, 5, "3"), (0, 1, "0.5"), (1, 10, "6"), (0.5, 5, "4")],
)
def test_the_threshold_advised_is_in_the_upper_part(low, high, threshold):
    assert suggest_threshold("rating", low, high) == f"relevant='rating>={threshold}'"


@pytest.mark.parametrize("text", ["rating=>4", "rating>=4 and rating<=5", "a>b>=1"])
def test_two_comparisons_are_none(text):
    with pytest.raises(InputError, match="expected a column compared with a number"):
        TableOptions.of(relevant=text)
