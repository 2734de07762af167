"""Groups on the page: dots with intervals, cards of findings, overlaps, and the table of all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.report.page.audit import group_card, overlaps, table_rows
from fairrec.report.page.dots import DotPlot, DotRow, audit_dots, describe_rows, ticks
from fairrec.report.words import number, percent, signed, signed_with_interval
from tests.builders import two_groups
from tests.report.items_audits import items_result
from tests.report.planted import groups_of, page_of, planted, planted_result
from tests.worlds import random_world

FOUND = {"gender": "F", "age": "65+"}


def test_a_group_has_one_number_everywhere():
    groups = groups_of(planted())
    card = group_card(groups.found[0], groups)
    rows = [*table_rows(groups), *audit_dots(groups)[0].rows]
    assert sum(row.label == card.label for row in rows) == 3
    assert all((row.group == card.number) == (row.label == card.label) for row in rows)


def test_a_card_has_a_row_for_each_metric_of_the_finding():
    groups = groups_of(planted())
    card = group_card(groups.found[0], groups)
    finding = planted().metrics["auc"].findings[0]
    others = finding.value - finding.difference
    assert (card.label, card.served) == ("gender=F, age=65+", "worse")
    assert card.users.startswith("61 users (")
    assert {row[0] for row in card.table.rows} == {"auc", "mrr@5"}
    row = dict(zip(card.table.columns, card.table.rows[0], strict=True))
    assert (row["value"], row["all others"]) == (number(finding.value), number(others))
    assert row["difference"] == signed(finding.difference)
    assert row["shrunken"] == signed(finding.shrunken_difference)
    assert (row["adjusted p"], row["verdict"]) == ("≤0.005", "worse")


def test_a_card_says_what_unknown_attributes_leave_open():
    users, predictions = random_world(2000, FOUND, effect=2.5, seed=1)
    hidden = pl.when(pl.col("user_id") % 20 == 0).then(None).otherwise(pl.col("gender"))
    result = fairrec.audit(
        predictions,
        users=users.with_columns(gender=hidden),
        by=["gender", "age"],
        metrics="auc",
        statistics=fairrec.Statistics(permutations=99),
    )
    groups = groups_of(result)
    card = group_card(groups.found[0], groups)
    n_hidden = users.filter(pl.col("user_id") % 20 == 0, pl.col("age") == "65+").height
    (line,) = [line for line in card.lines if "nknown" in line]
    assert line.startswith(f"auc: Unknown attributes: {n_hidden} users may belong to it too; ")


def test_overlaps_are_shares_of_the_users_of_the_row():
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"a": rng.choice([*"xyzw"], 4000), "b": rng.choice([*"uvst"], 4000)})
    is_low = (pl.col("a") == "x").cast(float) + (pl.col("b") == "u")
    noise = pl.Series(rng.normal(size=4000))
    result = fairrec.audit(
        values=table.with_columns(user_id=pl.int_range(4000), m=noise - 0.7 * is_low),
        by="a,b",
        tables=fairrec.Tables(better="m=higher"),
        statistics=fairrec.Statistics(permutations=99),
    )
    groups = groups_of(result)
    rows = overlaps(groups)
    assert [row.label for row in rows] == ["a=x", "b=u"]
    for one, row in zip(groups.found, rows, strict=True):
        own = table.filter(**one.group)
        for other, (text, share) in zip(groups.found, row.cells, strict=True):
            expected = own.filter(**other.group).height / own.height
            if one is other:
                assert (text, share) == (f"{own.height:,}", None)
            else:
                assert (text, share) == (percent(expected) if expected else "0", expected)


def small(permutations: int):
    predictions, users = two_groups(200)
    return fairrec.audit(
        predictions,
        users=users,
        by="group",
        metrics="mrr",
        statistics=fairrec.Statistics(permutations=permutations),
    )


def test_a_row_of_the_table_has_the_numbers_of_its_group():
    by_label = {row.label: row for row in table_rows(groups_of(small(99)))}
    even, odd = by_label["group=even"], by_label["group=odd"]
    # served at place 1 and at place 2
    assert even.cells[:3] == ("100", "1.00", "+0.500")
    assert odd.cells[:3] == ("100", "0.500", "−0.500")
    low, high = odd.cells[3].split(" to ")
    assert float(low.replace("−", "-")) <= -0.5 <= float(high.replace("−", "-"))
    assert (odd.metric, odd.attributes, odd.cells[4]) == ("mrr@5", (0,), "≤0.010")


def test_a_row_of_the_table_keeps_its_digits_for_sorting_and_download():
    rows = table_rows(groups_of(planted()))
    row = next(row for row in rows if (row.metric, row.label) == ("auc", "gender=F, age=65+"))
    assert row.is_finding and row.attributes == (0, 1)
    (own,) = planted().group_table.filter(metric="auc", depth=2, **FOUND).iter_rows(named=True)
    columns = "support", "value", "difference", "simultaneous_low", "simultaneous_high"
    assert row.numbers == pytest.approx([own[name] for name in (*columns, "p_adjusted")], rel=1e-8)


def test_rows_are_sorted_by_p_and_a_sample_keeps_findings():
    groups = groups_of(planted())
    rows = table_rows(groups)
    shown = [float(row.cells[4].strip("<≤")) for row in rows]
    assert shown == sorted(shown)
    assert len(rows) == planted().group_table.height
    frame, few = groups.of_metric["auc"], groups.sample("auc", 20)
    assert few.height <= 20
    # in the order of all: the lowest p-values, then some of the others
    assert few.head(10).equals(frame.head(10))
    assert few["p_adjusted"].max() == frame["p_adjusted"].max()
    # a finding far down is kept
    turned = groups_of(planted())
    turned.of_metric["auc"] = frame.reverse()
    assert turned.select("auc", turned.finding_keys("auc")).height == 1
    last = turned.sample("auc", 4)
    assert last.join(few.head(1), on=groups.axes, how="semi", nulls_equal=True).height == 1


def test_the_plot_of_the_answer_comes_first_and_all_have_the_same_groups():
    plots = audit_dots(groups_of(planted()))
    assert [plot.metric for plot in plots] == ["auc", "mrr@5"]
    assert plots[0].about == "ranking quality, higher is better"
    rows = [[row.label for row in plot.rows] for plot in plots]
    by_one = planted().group_table.filter(metric="auc", depth=1)
    deeper = [f for f in planted().metrics["auc"].findings if len(f.group) > 1]
    assert rows[0] == rows[1] and len(rows[0]) == by_one.height + len(deeper)
    assert rows[0][:3] == ["gender=F", "gender=M", "age=18-24"]
    # findings by several attributes come last; an attribute with many values is folded
    assert rows[0][-1] == "gender=F, age=65+"
    folded = {row.label for row in plots[0].rows if row.is_folded}
    assert folded == {row for row in rows[0] if row.startswith("job=")}


def test_a_dot_has_the_numbers_of_its_group_and_lies_in_its_interval():
    for plot in audit_dots(groups_of(planted())):
        for row, group in ((plot.rows[0], {"gender": "F"}), (plot.rows[-1], FOUND)):
            found = planted().group_table.filter(metric=plot.metric, depth=len(group), **group)
            (own,) = found.rows(named=True)
            numbers = own["difference"], own["simultaneous_low"], own["simultaneous_high"]
            assert (row.value, row.low, row.high) == numbers
            assert row.after == (signed_with_interval(*numbers),)
        assert (plot.rows[-1].tone, plot.rows[-1].has_card) == ("worse", True)
        assert plot.rows[-1].verdict == "worse; 1 more metric"


def test_places_are_linear_and_what_is_unknown_has_none():
    row = DotRow("a", (), (), "", "worse", value=1.0, low=-1.0, high=None)
    plot = DotPlot("m", "", (), (), (row,), limit=0.5)
    low, high = plot.ends
    assert (low, high) == pytest.approx((-1.08, 1.08))
    assert plot.place(0.0) == 50 and plot.place(None, 100) == 100
    assert plot.place(1.0) - plot.place(0.0) == pytest.approx(100 / 2.16, abs=0.01)
    assert plot.has_limit
    assert not DotPlot("m", "", (), (), (row,), limit=2.0).has_limit
    wide = replace(row, value=-40.0, low=-80.0, high=1.0, is_folded=True)
    assert DotPlot("m", "", (), (), (row, wide)).ends == plot.ends
    assert plot.place(wide.value) == -100


def test_where_none_is_significant_the_values_of_each_attribute_are_shown():
    rng = np.random.default_rng(3)
    users = pl.DataFrame(
        {
            "user_id": range(600),
            "g": rng.choice([*"abc"], 600, p=[0.6, 0.3, 0.1]),
            "h": rng.choice([*"xy"], 600),
            "m": rng.normal(size=600),
        }
    )
    result = fairrec.audit(
        values=users,
        by="g,h",
        tables=fairrec.Tables(better="m=higher"),
        statistics=fairrec.Statistics(permutations=99),
    )
    (plot,) = audit_dots(groups_of(result))
    assert [row.label for row in plot.rows] == ["g=a", "g=b", "g=c", "h=x", "h=y"]
    assert {(row.tone, row.verdict) for row in plot.rows} == {("within", "inconclusive")}


def test_intervals_of_items_allow_for_other_users():
    of_items, of_users = groups_of(items_result()), groups_of(planted_result())
    assert "the items stay" in describe_rows(of_items, audit_dots(of_items)[0])
    assert "or as random: like random sets of items</span>" in page_of(items_result())
    (plot, _), page = audit_dots(of_users), page_of(planted_result())
    n_shown = sum(not row.is_folded for row in plot.rows)
    assert describe_rows(of_users, plot).endswith(f"{n_shown} of {len(plot.rows)} groups at first.")
    assert "the items stay" not in page and "as random" not in page


@pytest.mark.parametrize("size", [1e-9, 0.3, 7.0, 4e8])
def test_ticks_are_few_and_round(size):
    found = ticks(-size, size / 3)
    assert 2 <= len(found) <= 9
    assert 0.0 in found and min(found) >= -size and max(found) <= size / 3
    steps = np.diff(found)
    assert steps == pytest.approx(np.full(len(steps), steps[0]))
