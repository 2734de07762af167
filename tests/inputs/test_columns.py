"""Which column plays which part, and conditions on columns."""

from __future__ import annotations

import operator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from fairrec.core.errors import InputError, UnknownNameError
from fairrec.inputs.columns import (
    ALIASES,
    Relevance,
    compared_column,
    find_column,
    suggest_threshold,
)
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.tables import Table
from tests.builders import (
    audit,
    make_tables,
    numbers_of,
    two_groups,
)

EVERY_ALIAS = [(wanted, alias) for wanted, aliases in ALIASES.items() for alias in aliases]


def _find(wanted: str, columns: list[str], mapping: dict[str, str] | None = None) -> str | None:
    return find_column(wanted, columns, "users", "users.csv", mapping or {})


@pytest.mark.parametrize(("wanted", "alias"), EVERY_ALIAS)
def test_every_alias_is_known_in_any_case(wanted: str, alias: str):
    assert _find(wanted, ["x", alias]) == alias
    assert _find(wanted, [alias.upper(), "x"]) == alias.upper()
    assert _find(wanted, ["x", alias.title()]) == alias.title()


def test_every_alias_stands_in_the_documentation():
    page = (Path(__file__).parents[2] / "docs" / "inputs.md").read_text(encoding="utf-8")
    for wanted, aliases in ALIASES.items():
        assert f"| `{wanted}` | {', '.join(f'`{alias}`' for alias in aliases)} |" in page


def test_the_exact_name_wins_over_an_alias():
    assert _find("user_id", ["uid", "user_id"]) == "user_id"
    assert _find("score", ["prediction", "score:float"]) == "score:float"


def test_a_mapping_for_the_table_wins_over_one_for_all():
    mapping = {"user_id": "a", "users.user_id": "b", "items.user_id": "c"}
    assert _find("user_id", ["a", "b", "c"], mapping) == "b"


def test_a_mapping_is_parsed_at_its_first_equals_sign():
    assert TableOptions(columns="user_id=a=b, items.categories=tags").columns == {
        "user_id": "a=b",
        "items.categories": "tags",
    }


@pytest.mark.parametrize(
    ("mapping", "nearest"),
    [
        ({"userid": "x"}, "Did you mean 'user_id'"),
        ({"item.categories": "x"}, "Did you mean 'items'"),
        ({"items.category": "x"}, "Did you mean 'categories'"),
        ({"gender": "sex"}, "Known: categories, item_id, label, rank, rating, score, user_id"),
    ],
)
def test_a_mapping_of_an_unknown_name_offers_the_nearest(mapping: dict[str, str], nearest: str):
    predictions, users = two_groups()
    with pytest.raises(UnknownNameError, match=nearest):
        audit(predictions, users, "group", columns=mapping)


def test_mapped_columns_give_the_same_result():
    tables = make_tables()
    options = {"by": "gender", "metrics": "mrr,urd,urp"}
    expected = audit(*tables[:2], items=tables.items, history=tables.history, **options)
    result = audit(
        tables.predictions.rename(
            {"user_id": "who", "item_id": "what", "score": "s", "label": "bought"}
        ),
        tables.users.rename({"user_id": "who"}),
        items=tables.items.rename({"item_id": "what", "categories": "tags"}),
        history=tables.history.rename({"user_id": "person", "item_id": "what"}),
        columns={
            "user_id": "who",
            "item_id": "what",
            "score": "s",
            "predictions.label": "bought",
            "items.categories": "tags",
            "history.user_id": "person",
        },
        **options,
    )
    assert numbers_of(result) == numbers_of(expected)


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
    condition = Relevance.parse(f"x {comparison} 2.5")
    assert (condition.column, condition.comparison, condition.threshold) == ("x", comparison, 2.5)
    assert condition.met_by(numbers).tolist() == [LOOPS[comparison](n, 2.5) for n in numbers]


@pytest.mark.parametrize(
    "given_as",
    [
        "rating",
        "rating>=",
        ">4",
        "rating>=four",
        4,
        "x>=nan",
        "a>b>=1",
    ],
)
def test_what_compares_nothing_is_refused_with_an_example(given_as):
    tables = make_tables()
    with pytest.raises(
        InputError, match=r"^invalid relevant: expected a column compared with a number, such as "
    ):
        audit(*tables[:2], "gender", relevant=given_as)


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
    assert compared_column(table, Relevance.parse(f"{asked}>1")) == found


def test_a_column_that_is_not_there_is_named_with_those_that_are():
    table = Table(pl.DataFrame({"user_id": [1], "stars": [4]}), "test", {})
    with pytest.raises(InputError) as caught:
        compared_column(table, Relevance.parse("ratings>=4"))
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
