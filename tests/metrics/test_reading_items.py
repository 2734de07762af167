"""Tables and options of an audit of items, and what it cannot take."""

from __future__ import annotations

import polars as pl
import pytest

from fairrec.core.errors import FairRecError
from fairrec.inputs.table_options import TableOptions
from fairrec.metrics.reading_items import read_items
from tests.metrics.item_world import random_world


def read(drop=(), **given):
    tables = {name: one for name, one in random_world(1).tables().items() if name not in drop}
    lists = tables.pop("predictions", None)
    return read_items(lists, TableOptions.of(**{**tables, "side": "items", "by": "kind", **given}))


def test_the_metrics_by_default_are_those_that_the_tables_allow():
    names = [metric.name for metric in read().wanted]
    assert names == ["exposure@6", "exposure_to_relevance@6"]
    assert [metric.name for metric in read(drop=["test"]).wanted] == ["exposure@6"]


def test_items_stand_where_users_do():
    inputs = read().inputs
    assert inputs.n_users == 15
    assert inputs.unit.many == "items"
    assert inputs.described.measured_by == "recommendations"


@pytest.mark.parametrize(
    ("given", "drop", "message"),
    [
        ({"metrics": "ndcg@5"}, (), "is one of users, and items are compared here. Of items: exp"),
        ({"metrics": "exposrue@5"}, (), "Did you mean 'exposure'"),
        ({"metrics": "exposure_to_relevance"}, ("test",), "needs to know what users wanted"),
        ({"users": pl.DataFrame({"user_id": [1]})}, (), "Leave out users"),
        ({"values": pl.DataFrame({"user_id": [1]})}, (), "values are numbers of users"),
        ({"given": "list_length"}, (), "given is about circumstances of users"),
        ({"missing_lists": "drop"}, (), "missing_lists='drop' is about users"),
        ({"against_lists": pl.DataFrame({"user_id": [1]})}, (), "compares two lists of one user"),
        ({}, ("items",), "Give them: items"),
        ({}, ("predictions",), "predictions table is missing"),
        ({"by": "knid"}, (), "Did you mean 'kind'"),
        ({"unit": "provider_id"}, (), "provider_id 'p0' has items with different values"),
    ],
)
def test_what_items_cannot_be_compared_by_is_refused(given, drop, message):
    if "unit" in given:
        given = {**given, "by": "year"}
    with pytest.raises(FairRecError, match=message):
        read(drop, **given)


def test_a_metric_of_items_is_refused_where_users_are_compared():
    from fairrec.metrics import parse_metric

    with pytest.raises(FairRecError, match=r"'exposure' is one of items, and users are compared"):
        parse_metric("exposure@5")


def test_units_without_items_are_refused():
    with pytest.raises(FairRecError, match="is a column of the items"):
        TableOptions.of(unit="provider_id")
