from __future__ import annotations

import pytest

from fairrec.core.errors import InputError
from fairrec.metrics.reading import read_inputs
from tests.builders import make_tables

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
