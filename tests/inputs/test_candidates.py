"""Candidate lists: what is refused, what orders them, and the order of equal scores."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from pytest import approx

from fairrec.core.errors import FairRecError, InputError
from fairrec.inputs import order
from fairrec.inputs.candidates import CandidateLists
from fairrec.inputs.order import hash_ids, order_columns, rows_in_order, scores_in_order
from fairrec.inputs.tables import Table
from tests.builders import as_lists, audit, make_tables, numbers_of, two_groups
from tests.metrics.metric_lists import ranked_lists, user

NAN, INF = float("nan"), float("inf")


def _with(table: pl.DataFrame, row: int, column: str, value: Any) -> pl.DataFrame:
    """The table with one value changed; rows count from 1."""
    values = table[column].to_list()
    values[row - 1] = value
    return table.with_columns(pl.Series(column, values, strict=False))


def _refusal(*tables: Any, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        audit(*tables, **{"by": "group", **options})
    assert isinstance(caught.value, FairRecError)
    assert isinstance(caught.value, ValueError)
    return str(caught.value)


def test_a_duplicate_pair_is_found_in_lists_and_in_shuffled_rows():
    predictions, users = two_groups()
    twice = pl.concat([predictions, predictions[6:7]])
    for table in (as_lists(twice), twice.sample(fraction=1.0, shuffle=True, seed=1)):
        assert "user 'u1' has item 2 twice (1 such rows" in _refusal(table, users)


@pytest.mark.parametrize("bad", [NAN, INF, -INF])
@pytest.mark.parametrize("column", ["score", "label"])
def test_a_number_that_is_not_finite_is_refused_with_its_row(column: str, bad: float):
    predictions, users = two_groups()
    predictions = predictions.with_columns(pl.col("label").cast(pl.Float64))
    predictions = _with(_with(predictions, 11, column, bad), 20, column, bad)
    expected = f"the predictions table, row 11: column '{column}' is {bad} (2 such values)."
    assert _refusal(predictions, users).startswith(expected)
    # user u2 is the third row of the list form
    lists = as_lists(predictions)
    assert f"row 3: column '{column}' is {bad} (2 such values)" in _refusal(lists, users)


@pytest.mark.parametrize("column", ["item_id", "score", "label"])
def test_a_missing_or_shorter_list_is_refused_with_the_row(column: str):
    predictions, users = two_groups()
    shorter = _refusal(_with(as_lists(predictions), 3, "score", [0.5]), users)
    assert "row 3: the lists in 'item_id' and 'score' are not of one length" in shorter
    message = _refusal(_with(as_lists(predictions), 3, column, None), users)
    assert f"row 3: the lists in 'item_id' and '{column}' are not" in message
    assert "or one is missing. Give an empty list" in message


def test_lists_in_some_columns_only_are_refused():
    predictions, users = two_groups()
    lists = as_lists(predictions).with_columns(label=pl.lit(1))
    message = _refusal(lists, users)
    assert "only item_id, score holds lists" in message
    assert "one row per user" in message


def test_a_metric_undefined_for_everyone_is_refused():
    predictions, users = two_groups()
    message = _refusal(predictions.with_columns(label=0), users)
    assert message.startswith(
        "Metric 'mrr@5' is undefined for every user: no candidate has a label"
    )
    message = _refusal(predictions.with_columns(label=1), users, metrics="auc")
    assert message.startswith("Metric 'auc' is undefined for every user: no user has both")


OFFSETS = np.array([0, 3, 5])


def table(*columns: str, mapping: dict[str, str] | None = None) -> Table:
    return Table(pl.DataFrame({name: [1] for name in columns}), "predictions", mapping or {})


@pytest.mark.parametrize(
    ("columns", "mapping", "of_candidates", "of_recommendations"),
    [
        (["score"], {}, {"score"}, {"score"}),
        (["rank"], {}, {"rank"}, {"rank"}),
        (["score", "rank"], {}, {"score"}, {"score", "rank"}),
        (["score", "rank"], {"score": "score"}, {"score"}, {"score"}),
        (["score", "rank"], {"rank": "rank"}, {"rank"}, {"rank"}),
        (["score", "rank"], {"predictions.rank": "rank"}, {"rank"}, {"rank"}),
        (["item_id"], {}, set(), set()),
    ],
)
def test_a_mapped_column_wins_and_both_are_looked_at_of_recommendations(
    columns, mapping, of_candidates, of_recommendations
):
    given_table = table(*columns, mapping=mapping)
    assert {*order_columns(given_table, is_recommended=False)} == of_candidates
    assert {*order_columns(given_table, is_recommended=True)} == of_recommendations


def scores(offsets=OFFSETS, mapping=None, **numbers):
    arrays = {name: np.array(column, dtype=float) for name, column in numbers.items()}
    columns = {name: name for name in numbers}
    return scores_in_order(arrays, columns, offsets, table(*numbers, "user_id", mapping=mapping))


def test_a_higher_score_a_lower_rank_and_an_earlier_place_come_first():
    assert scores(score=[3, 1, 2, 5, 4]).tolist() == [3, 1, 2, 5, 4]
    assert scores(rank=[1, 3, 2, 1, 2]).tolist() == [-1, -3, -2, -1, -2]
    assert scores().tolist() == [0, -1, -2, 0, -1]


def test_equal_scores_beside_ranks_are_in_the_order_of_the_ranks():
    assert scores(score=[3, 1, 2, 5, 4], rank=[1, 3, 2, 1, 2]).tolist() == [3, 1, 2, 5, 4]
    broken = scores(score=[1, 1, 2, 4, 4], rank=[3, 2, 1, 2, 1])
    assert np.argsort(-broken[:3]).tolist() == [2, 1, 0]
    assert np.argsort(-broken[3:]).tolist() == [1, 0]
    # where the ranks are equal, the scores decide
    broken = scores(score=[1, 2, 2, 4, 4], rank=[1, 1, 1, 1, 2])
    assert np.argsort(-broken[:3], kind="stable").tolist() == [1, 2, 0]


def test_score_and_rank_that_disagree_are_refused_with_both_remedies():
    with pytest.raises(InputError) as caught:
        scores(score=[3, 1, 2, 5, 4], rank=[3, 1, 2, 1, 2])
    assert str(caught.value) == (
        "the predictions table: 'score' and 'rank' put the items of 1 of 2 users in different "
        "orders. Choose one: columns={'rank': 'rank'} (1 is best) or "
        "columns={'score': 'score'} (higher is better)"
    )


def counting(n_lists: int, length: int) -> tuple[np.ndarray, list[int]]:
    return np.arange(n_lists + 1) * length, [*range(1, length + 1)] * n_lists


def test_a_score_that_counts_up_like_a_rank_is_refused():
    offsets, ranks = counting(5, 4)
    with pytest.raises(InputError) as caught:
        scores(offsets, score=ranks)
    assert str(caught.value) == (
        "the predictions table: 'score' counts up in every user's list, as a rank does. Map it: "
        "columns={'rank': 'score'} (1 is best), or columns={'score': 'score'} (higher is better)"
    )
    assert scores(offsets, {"score": "score"}, score=ranks).tolist() == ranks
    # fractions, few rows and a single user may count up by chance
    for bounds, numbers in (
        (offsets, [*ranks[:-1], 9.5]),
        (offsets[:5], ranks[:16]),
        (np.array([0, 20]), [*range(1, 21)]),
    ):
        assert scores(bounds, score=numbers).tolist() == numbers


@pytest.mark.parametrize(
    ("ranks", "says"),
    [
        ([-1, -2, -3, -1, -2], r"'rank' has values below 0 \(such as -3\), and of ranks 1 is best"),
        (
            [1, 1, 1, 1, 1],
            "'rank' is the same for all items of each user, so their order is not known",
        ),
    ],
)
def test_ranks_that_are_none_are_refused(ranks, says):
    with pytest.raises(InputError, match=says):
        scores(rank=ranks)


def test_a_column_called_rank_is_never_a_score():
    with pytest.raises(InputError, match="'rank' is a rank by its name"):
        order.order_columns(
            Table(pl.DataFrame({"rank": [1]}), "predictions", {"score": "rank"}), True
        )


def test_candidates_may_have_a_rank_instead_of_a_score():
    tables = make_tables()
    ranked = tables.predictions.with_columns(
        rank=pl.col("score").rank(descending=True).over("user_id")
    ).drop("score")
    by_rank = audit(ranked, tables.users, "gender", metrics="auc,mrr,ndcg")
    by_score = audit(tables.predictions, tables.users, "gender", metrics="auc,mrr,ndcg")
    assert numbers_of(by_rank) == numbers_of(by_score)
    # a rank beside the score of a candidate may be anything
    beside = tables.predictions.with_columns(rank=1)
    assert numbers_of(audit(beside, tables.users, "gender")) == numbers_of(
        audit(tables.predictions, tables.users, "gender")
    )


@pytest.mark.parametrize("column", ["score", "rank"])
def test_a_table_without_any_order_is_refused(column):
    with pytest.raises(InputError, match=f"'{column}' is the same for all items of each user"):
        scores(**{column: [3, 3, 3, 5, 5]})
    assert scores(np.array([0, 1, 2]), **{column: [3, 3]}) is not None


def lists_of(n_users: int, n_items: int, user_ids: list[object] | None = None) -> CandidateLists:
    """All items with one score for every user."""
    lists = ranked_lists([user([0] * n_items, [1] * n_items)] * n_users).candidates
    return replace(lists, user_ids=pl.Series(user_ids or range(n_users)))


def items_in_order(lists: CandidateLists) -> list[list[int]]:
    ids = lists.item_ids.gather(lists.items[rows_in_order(lists)]).to_list()
    return [ids[a:b] for a, b in zip(lists.offsets[:-1], lists.offsets[1:], strict=True)]


def test_hashes_are_those_of_the_text_in_every_process_and_version():
    # FNV-1a and the finaliser of SplitMix64, reckoned by hand in Python's integers
    def slow(text: str) -> int:
        key, mask = 0xCBF29CE484222325, (1 << 64) - 1
        for byte in text.encode():
            key = (key ^ byte) * 0x100000001B3 & mask
        key = (key ^ (key >> 30)) * 0xBF58476D1CE4E5B9 & mask
        key = (key ^ (key >> 27)) * 0x94D049BB133111EB & mask
        return key ^ (key >> 31)

    texts = ["", "a", "ü", "u17", "007", "日本"]
    assert hash_ids(pl.Series(texts)).tolist() == [slow(text) for text in texts]
    assert hash_ids(pl.Series([-3, 10**18])).tolist() == [slow("-3"), slow(str(10**18))]
    assert len(hash_ids(pl.Series([], dtype=pl.String))) == 0


def test_each_user_has_an_order_of_their_own():
    orders = items_in_order(lists_of(400, 5))
    first = np.bincount([order[0] for order in orders], minlength=5) / 400
    assert first == approx([0.2] * 5, abs=0.07)
    assert items_in_order(lists_of(2, 5, [7, 7]))[0] == items_in_order(lists_of(2, 5, [7, 8]))[0]
    assert items_in_order(lists_of(1, 5, ["7"])) == items_in_order(lists_of(1, 5, [7]))


def test_different_scores_come_first_by_score():
    lists = ranked_lists([user([0] * 4, [1, 3, 1, 2])]).candidates
    (order,) = items_in_order(lists)
    assert order[:2] == [1, 3]
    assert {*order[2:]} == {0, 2}
