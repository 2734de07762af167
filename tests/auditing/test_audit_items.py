"""Audits of items from tables to results, and what stands in their way."""

from __future__ import annotations

from math import comb

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.core.errors import InputError
from fairrec.metrics.reading import read_inputs
from fairrec.report.view import build_view
from fairrec.report.words import percent
from tests.grouped_options import group_options
from tests.metrics.item_world import random_world


def market(seed: int = 0, less: float = 0.0, n_users: int = 400, n_items: int = 120):
    """Lists of 5 drawn by popularity; items of kind b are less popular by so much."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(["a", "b", "c"], n_items)
    popularity = rng.normal(size=n_items) - less * (kind == "b")
    lists = np.argsort(-(popularity + rng.gumbel(size=(n_users, n_items))), axis=1)[:, :5]
    recommended = pl.DataFrame({"user_id": np.arange(n_users), "item_id": lists.tolist()})
    items = pl.DataFrame(
        {"item_id": np.arange(n_items), "kind": kind, "who": np.arange(n_items) % 9}
    )
    return recommended, items


def test_a_kind_that_is_shown_less_is_found():
    recommended, items = market(less=2.5)
    result = fairrec.audit(recommended, items=items, tables=fairrec.Tables(side="items"), by="kind")
    assert result.metrics["exposure@5"].findings[0].group == {"kind": "b"}
    assert result.summary.catalogue.n_items == 120
    assert result.per_user.height == 120


@pytest.mark.parametrize("history", [False, True])
def test_the_value_of_a_group_is_what_it_received_over_what_it_was_due(history):
    """Not a mean of ratios, in which an item that one user wanted would count as much as any."""
    world = random_world(4, n_users=14)
    tables = world.tables(history)
    result = fairrec.audit(
        tables.pop("predictions"),
        **group_options(
            **tables,
            gain="rating",
            side="items",
            by="kind",
            metrics="exposure_to_relevance@1",
            min_support=1,
            permutations=0,
        ),
    )
    for row in result.group_table.iter_rows(named=True):
        parts = [
            world.received_and_due(item, 1, history)
            for item, about in world.items.items()
            if about["kind"] == row["kind"]
        ]
        # also what an item received that was due nothing
        assert any(received and not due for received, due in parts)
        received, due = np.sum(parts, axis=0)
        assert row["value"] == pytest.approx(received / due)


def test_the_seed_alone_decides_whatever_the_threads():
    recommended, items = market(1, less=1.0)
    given = {"items": items, "side": "items", "by": "kind", "permutations": 99}
    one, two = (fairrec.audit(recommended, **group_options(threads=n, **given)) for n in (1, 2))
    assert one.group_table.equals(two.group_table)


@pytest.mark.parametrize(("unit", "column"), [("", "item_id"), ("provider_id", "provider_id")])
def test_ids_stand_under_the_name_of_what_they_are_of(tmp_path, unit, column):
    tables = random_world(4, n_users=14).tables()
    items = tables["items"].with_columns(kind=pl.col("provider_id"))
    given = {"items": items, "test": tables["test"], "side": "items", "by": "kind", "unit": unit}
    metrics = "exposure_to_relevance@1"
    result = fairrec.audit(
        tables["predictions"],
        **group_options(**given, metrics=metrics, min_support=1, permutations=0),
    )
    assert result.per_user.columns == [column, "kind", metrics]
    result.save(tmp_path / "audit")
    assert fairrec.load(tmp_path / "audit").per_user.equals(result.per_user)


@pytest.mark.parametrize(
    "beside",
    [
        {"counts": "counts.parquet"},
        {"search": "adaptive"},
        {"scorer": lambda users, items: None},
        {"engine": "ray"},
    ],
)
def test_what_does_not_have_all_lists_is_refused(beside):
    recommended, items = market()
    with pytest.raises(InputError, match=f"Leave out {next(iter(beside))}"):
        fairrec.audit(recommended, **group_options(items=items, side="items", by="kind", **beside))


def test_what_reads_users_has_no_side_of_items():
    """Commands that do not offer the side, such as counting, refuse it from a settings file too."""
    recommended, items = market()
    users = pl.DataFrame({"user_id": range(400), "age": range(400)})
    with pytest.raises(InputError, match="side='items'"):
        read_inputs(recommended, users=users, items=items, side="items", by="age")


def test_few_items_that_differ_are_a_finding_beside_random_sets_of_items():
    """Three items take all places: as many at random would often get as little as the others."""
    n_users, n_items = 300, 40
    taken = [[0, 1, 2]] * n_users
    recommended = pl.DataFrame({"user_id": range(n_users), "item_id": taken})
    kinds = ["a"] * 20 + ["b"] * 20
    items = pl.DataFrame({"item_id": range(n_items), "kind": kinds})
    result = fairrec.audit(
        recommended,
        items=items,
        tables=fairrec.Tables(side="items"),
        by="kind",
        metrics="exposure@3",
        min_support=5,
    )
    (finding,) = result.metrics["exposure@3"].findings
    assert (finding.group, finding.outcome) == ({"kind": "b"}, "worse")
    share = comb(37, 20) / comb(40, 20)
    assert finding.random_sets == pytest.approx(share, abs=0.04)
    table = result.group_table.filter(kind="b")
    assert table["random_sets"].to_list() == [finding.random_sets]
    view, size = build_view(result.summary, result.group_table), percent(finding.random_sets)
    (row,) = [row for row in view.answer.table.blocks[0].rows if row.label == "b"]
    assert row.cells[-1] == f"as random ({size})"
    assert f"{size} of random item sets of its size differ as much" in view.answer.about[0]
    assert size in view.findings.rows[0]
