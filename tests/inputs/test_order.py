"""What puts a user's items in order: a score, a rank, or their place in a list."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairrec.core.errors import InputError
from fairrec.inputs import order
from fairrec.inputs.order import no_order, order_columns, scores_in_order
from fairrec.inputs.tables import Table
from tests.builders import audit, make_tables, numbers_of
from tests.recommendations import Served

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


def test_an_audit_breaks_ties_by_the_rank_whatever_the_order_of_rows():
    served = Served({0: [1, 2, 3], 1: [3, 2, 1]}, {0: {1: 1.0}, 1: {3: 1.0}})
    tied = served.recommendations("both").with_columns(score=1.0)
    users = pl.DataFrame({"user_id": [0, 1], "group": ["a", "b"]})
    for rows in (tied, tied.reverse()):
        result = audit(rows, users, "group", test=served.test(), metrics="mrr@3")
        assert result.per_user["mrr@3"].to_list() == [1, 1]


def is_other(scores: list[float], ranks: list[float]) -> bool:
    """Whether some item of a better rank has a lower score."""
    pairs = combinations(zip(ranks, scores, strict=True), 2)
    return any((a[0] < b[0] and a[1] < b[1]) or (a[0] > b[0] and a[1] > b[1]) for a, b in pairs)


@given(
    lists=st.lists(
        st.lists(st.tuples(st.integers(0, 3), st.integers(1, 4)), min_size=1, max_size=4),
        min_size=1,
        max_size=5,
    )
)
def test_lists_in_another_order_are_counted_as_in_a_loop(lists):
    offsets = np.cumsum([0, *map(len, lists)])
    flat = [pair for one in lists for pair in one]
    columns = {"score": [pair[0] for pair in flat], "rank": [pair[1] for pair in flat]}
    n_other = sum(is_other([p[0] for p in one], [p[1] for p in one]) for one in lists)
    if all(len({*one}) == 1 for one in lists) and any(len(one) > 1 for one in lists):
        with pytest.raises(InputError, match="is the same for all items of each user"):
            scores(offsets, **columns)
        return
    if not n_other:
        assert len(scores(offsets, **columns)) == len(flat)
        return
    with pytest.raises(InputError) as caught:
        scores(offsets, **columns)
    assert f"items of {n_other:,} of {len(lists):,} users in different orders" in str(caught.value)


def test_score_and_rank_that_disagree_are_refused_with_both_remedies():
    with pytest.raises(InputError) as caught:
        scores(score=[3, 1, 2, 5, 4], rank=[3, 1, 2, 1, 2])
    assert str(caught.value) == (
        "the predictions table: 'score' and 'rank' put the items of 1 of 2 users in different "
        "orders. Say which counts: columns={'rank': 'rank'} (1 is best) or "
        "columns={'score': 'score'} (higher is better)"
    )


def counting(n_lists: int, length: int, start: int = 1) -> tuple[np.ndarray, list[int]]:
    return np.arange(n_lists + 1) * length, [*range(start, start + length)] * n_lists


def test_there_are_enough_rows_from_20_on():
    assert order._ENOUGH_ROWS == 20


@pytest.mark.parametrize("start", [0, 1])
def test_a_score_that_counts_up_like_a_rank_is_refused(start):
    offsets, ranks = counting(5, 4, start)
    with pytest.raises(InputError) as caught:
        scores(offsets, score=ranks)
    assert str(caught.value) == (
        "the predictions table: 'score' counts up in every user's list, as a rank does, of which "
        "the first is best; of a score the highest is. Map it as what it is: "
        "columns={'rank': 'score'}, or columns={'score': 'score'} if higher is better"
    )
    assert scores(offsets, {"score": "score"}, score=ranks).tolist() == ranks


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda ranks: [*ranks[:-1], 9], id="one that skips"),
        pytest.param(lambda ranks: [rank + 1 for rank in ranks], id="from 2"),
        pytest.param(lambda ranks: [3, 1, 4, 2] * 5, id="in another order"),
    ],
)
def test_ranks_are_recognised_with_gaps_and_in_any_order(change):
    offsets, ranks = counting(5, 4)
    with pytest.raises(InputError, match="counts up in every user's list, as a rank does"):
        scores(offsets, score=change(ranks))


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


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda offsets, ranks: (offsets[:5], ranks[:16]), id="few rows"),
        pytest.param(lambda offsets, ranks: (offsets, [*ranks[:-1], 9.5]), id="no whole number"),
        pytest.param(lambda offsets, ranks: (offsets, ranks[::-1]), id="counts down"),
        pytest.param(lambda offsets, ranks: (offsets, [3, 1, 5, 2] * 5), id="no order, no 1 to n"),
        pytest.param(lambda offsets, ranks: (np.array([0, 20]), [*range(1, 21)]), id="one user"),
        pytest.param(lambda offsets, ranks: (np.arange(21), [1] * 20), id="one item each"),
    ],
)
def test_other_scores_are_taken_as_they_are(spoil):
    offsets, numbers = spoil(*counting(5, 4))
    assert scores(offsets, score=numbers).tolist() == list(numbers)


def test_nothing_that_orders_is_said_with_the_columns_that_are_there():
    with pytest.raises(InputError) as caught:
        raise no_order(table("user_id", "item_id", "when"))
    assert str(caught.value) == (
        "the predictions table: no column 'score' (higher is better) and none 'rank' (1 is best), "
        "so the order is not known. Columns here: user_id, item_id, when. If one has another name, "
        "map it: columns={'score': ...} or columns={'rank': ...}"
    )
    served = Served({0: [1, 2]}, {0: {1: 1.0}})
    users = pl.DataFrame({"user_id": [0], "group": ["a"]})
    with pytest.raises(InputError, match="so the order is not known"):
        bare = served.recommendations().drop("score")
        audit(bare, users, "group", test=served.test(), metrics="mrr")


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


def test_equal_ranks_beside_equal_scores_stay_equal_whatever_the_order_of_rows():
    broken = scores(score=[1, 1, 1, 4, 4], rank=[1, 2, 2, 2, 1])
    assert broken[1] == broken[2] < broken[0]
    assert broken[3] < broken[4]


@pytest.mark.parametrize("column", ["score", "rank"])
def test_a_table_without_any_order_is_refused(column):
    with pytest.raises(InputError, match=f"'{column}' is the same for all items of each user"):
        scores(**{column: [3, 3, 3, 5, 5]})
    assert scores(np.array([0, 1, 2]), **{column: [3, 3]}) is not None


@pytest.mark.parametrize(
    ("change", "n"),
    [
        (lambda rank: rank, 0),
        (lambda rank: rank - 1, 0),
        (lambda rank: (rank + 1) // 2, 0),
        (lambda rank: 3 * rank, 4),
        (lambda rank: rank + 5 * (pl.col("user_id") % 2), 2),
    ],
    ids=["from 1", "from 0", "ties", "gaps", "half from 6"],
)
def test_ranks_beyond_the_length_of_a_list_are_noted(change, n):
    served = Served({u: [1, 2, 3] for u in range(4)}, {u: {1: 1.0, 4: 1.0} for u in range(4)})
    lists = served.recommendations("rank").with_columns(rank=change(pl.col("rank")))
    users = pl.DataFrame({"user_id": range(4), "g": [*"abab"]})
    result = audit(lists, users, "g", test=served.test(), metrics="ndcg@3", permutations=0)
    said = f"{n} of 4 lists in the predictions table have a 'rank' beyond their length, as if rows"
    assert [one.startswith(said) for one in result.warnings if "beyond" in one] == [True] * (n > 0)
