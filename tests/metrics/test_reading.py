from __future__ import annotations

import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec.metrics.reading import ShortListsNote, read_inputs
from tests.builders import make_tables
from tests.recommendations import Served

TABLES = make_tables()


def read(*tables: str, has_labels: bool = True, **options):
    """The inputs and metrics with these tables beside predictions and users."""
    predictions = TABLES.predictions if has_labels else TABLES.predictions.drop("label")
    given = {name: getattr(TABLES, name) for name in tables}
    return read_inputs(predictions, users=TABLES.users, by="gender", **given, **options)


def names(metrics) -> list[str]:
    return [metric.name for metric in metrics]


@pytest.mark.parametrize(
    ("tables", "has_labels", "expected"),
    [
        ((), True, ["auc", "mrr@5", "ndcg@5"]),
        (("items",), True, ["auc", "mrr@5", "ndcg@5", "urd@5"]),
        (("history", "items"), True, ["auc", "mrr@5", "ndcg@5", "urd@5", "urp@5"]),
        (("history",), False, ["urp@5"]),
    ],
)
def test_by_default_metrics_are_those_the_tables_allow(tables, has_labels, expected):
    assert names(read(*tables, has_labels=has_labels)[1]) == expected


def test_a_metric_named_twice_is_measured_once_in_the_order_named():
    assert names(read(metrics="ndcg, auc,ndcg@5")[1]) == ["ndcg@5", "auc"]
    assert names(read(metrics=["auc", "mrr@3"])[1]) == ["auc", "mrr@3"]


def test_side_data_is_read_where_a_metric_needs_it_or_someone_wants_it():
    assert read("items", "history", metrics="auc")[0].side.categories is None
    assert read("items", "history", metrics="urd")[0].side.categories is not None
    wanted = read("history", metrics="auc", wants=("items", "history"))[0].side
    assert wanted.categories is None
    assert wanted.popularity is not None


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"metrics": " , "}, "No metric is named"),
        ({"metrics": ()}, "No metric is named"),
        ({"metrics": "auc,urd"}, r"'urd@5' needs the items table\. Give items=\.\.\."),
        ({"metrics": "urp@3"}, "'urp@3' needs the history table"),
        ({"has_labels": False}, "without a label column there is no metric of accuracy"),
        ({"metrics": "mrr", "reserved": ("gender",)}, "'gender' has the name of a column"),
    ],
)
def test_what_cannot_be_measured_is_refused(options, says):
    with pytest.raises(InputError, match=says):
        read(**options)


def served_with(*lengths: int) -> Served:
    """Users with lists of these lengths, and item 0 held out for each."""
    return Served(
        {user: [*range(length)] for user, length in enumerate(lengths)},
        {user: {0: 1.0} for user in range(len(lengths))},
    )


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ((10, 10), ["recall@10", "ndcg@10", "mrr@10"]),
        ((12, 30), ["recall@10", "ndcg@10", "mrr@10"]),
        ((4, 4), ["recall@4", "ndcg@4", "mrr@4"]),
        ((4, 3), ["recall@4", "ndcg@4", "mrr@4"]),
        ((20, 9), ["recall@10", "ndcg@10", "mrr@10"]),
        ((5, 0), ["recall@5", "ndcg@5", "mrr@5"]),
    ],
)
def test_of_recommendations_they_are_no_deeper_than_the_lists(lengths, expected):
    assert [*served_with(*lengths).audit().metrics] == expected


def test_asked_for_metrics_keep_their_depth():
    assert [*served_with(4, 3).audit(metrics="ndcg@20,hit").metrics] == ["ndcg@20", "hit@5"]


@pytest.mark.parametrize("name", ["auc", "pooled_auc"])
def test_a_metric_of_all_candidates_is_refused_for_recommendations(name):
    with pytest.raises(InputError) as caught:
        served_with(4, 3).audit(metrics=f"mrr,{name}")
    assert str(caught.value) == (
        f"Metric '{name}' compares the relevant candidates with all others, and recommendations "
        "hold only the first places of them, so it is not defined here. From test: recall, ndcg, "
        f"map, precision, hit, mrr, coverage. For '{name}', give all scored candidates with "
        "labels, without test."
    )


def test_held_out_items_that_nobody_known_wants_are_named_as_the_reason():
    served = Served({0: [1], 1: [1]}, {0: {1: 0.0}, 7: {1: 5.0}})
    users = pl.DataFrame({"user_id": [0, 1], "group": ["a", "b"]})
    with pytest.raises(
        InputError, match=r"'recall@1' is undefined for every user: nobody with a row of attributes"
    ):
        served.audit(users=users)


def labelled(labels: list[float], **options):
    predictions = pl.DataFrame(
        {
            "user_id": [0, 0, 1, 1],
            "item_id": [1, 2, 1, 2],
            "score": [2, 1, 2, 1],
            "label": labels,
        }
    )
    users = pl.DataFrame({"user_id": [0, 1], "group": ["a", "b"]})
    return read_inputs(predictions, users=users, by="group", **options)


def test_labels_that_look_like_ratings_are_refused_with_a_threshold():
    with pytest.raises(InputError) as caught:
        labelled([1, 2, 5, 3])
    assert str(caught.value) == (
        "the predictions table: 'label' runs from 1 to 5 and is never 0, so every candidate would "
        "be relevant for auc; these look like ratings. Say from which one on: "
        "relevant='label>=4'. Or ask for ndcg alone, which weighs by them."
    )
    assert labelled([1, 2, 5, 3], metrics="ndcg")[0].warnings == ()
    assert labelled([1, 2, 5, 3], relevant="label>=4")[0].candidates.labels.tolist() == [0, 0, 1, 0]


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        ([0, 1, 1, 0], None),
        ([0, 2, 2, 0], None),
        ([1, 1, 1, 1], "the predictions table: every candidate is relevant, so no list can miss"),
        ([0, 1, 5, 3], "'label' runs from 0 to 5: ndcg weighs by it, and metrics that count relev"),
    ],
)
def test_what_labels_mean_is_said_where_it_is_in_doubt(labels, says):
    warnings = labelled(labels, metrics="mrr")[0].warnings
    assert len(warnings) == (says is not None)
    assert all(warning.startswith(says) for warning in warnings)


def ends_of_lists(*lengths: int, metrics: str | None) -> list[str]:
    warnings = served_with(*lengths).audit(metrics=metrics).warnings
    return [note for note in warnings if note.startswith("no list in ")]


def test_a_cut_off_beyond_all_lists_is_told_of_once():
    (said,) = ends_of_lists(10, 4, metrics="recall@20,ndcg@20,mrr@10")
    assert said.endswith("has more than 10 items, so recall@20, ndcg@20 look at the first 10 alone")
    assert ends_of_lists(10, 20, metrics="recall@20,ndcg@20") == []
    assert ends_of_lists(4, 3, metrics=None) == []


def test_a_longer_list_in_another_part_is_enough():
    one, other = (ShortListsNote("p", (("recall@20", 20),), longest) for longest in (10, 20))
    assert str(one + one) == str(one) != ""
    assert str(one + other) == ""
