"""A comparison in words, tables, a page and a card, and by the command."""

from __future__ import annotations

import json

import polars as pl
import pytest

import fairrec
from fairrec.comparison import page as pages
from fairrec.comparison.page import change_plot, comparison_page
from fairrec.comparison.result import AuditDifference, Comparison
from fairrec.comparison.words import (
    ComparisonView,
    build_comparison_view,
    describe_metric,
    headline,
)
from fairrec.core.audited_entity import ITEMS
from fairrec.statistics.verdict import CertifiedSize
from tests.compared_audits import audited, users_table
from tests.comparison.small_comparison import compared, with_metric
from tests.end_to_end.command_line import run_here
from tests.report.tags import BAD, Tags


def view_of(found: Comparison) -> ComparisonView:
    return build_comparison_view(found.summary, found.changes)


def tone_of(found: Comparison) -> str:
    return view_of(found).answer.tone


def test_tables_hold_the_means_the_groups_and_what_else_differs():
    found = compared()
    view = view_of(found)
    (everyone,) = view.everyone.rows
    assert (everyone[1], everyone[-1]) == ("600", "lost by more than 0.300")
    assert ("model", "als 1", "-") in view.differences.rows
    for table in (view.everyone, view.differences):
        assert all(len(row) == len(table.columns) == len(table.numeric) for row in table.rows)
    first = view.answer.table.blocks[1].rows[0]
    assert first.label == "plan=free"
    assert first.cells[0] == f"{found.metrics['clicks'].lost[0].support:,}"
    assert (first.cells[-1], first.served) == ("lost more", "worse")


def test_what_rounding_leaves_of_a_change_of_all_is_nothing():
    found = compared()
    everyone = found.metrics["clicks"].everyone
    same = everyone.model_copy(update={"change": 1.1e-16, "interval": None})
    summary = with_metric(found.summary, everyone=same)
    (row,) = build_comparison_view(summary, found.changes).everyone.rows
    assert row[4] == "0"


def test_groups_that_gained_stand_below_those_that_gained_less():
    view = view_of(compared(fall=-1.0))
    rows = [(row.label, row.cells[-1]) for row in view.answer.table.blocks[1].rows]
    assert rows[:2] == [("plan=paid", "behind"), ("plan=free", "gained")]


def test_outside_text_is_on_one_line_and_cut():
    odd = AuditDifference(what="a\nb", base="x" * 500, candidate="")
    found = compared()
    summary = found.summary.model_copy(update={"differences": (odd,), "notes": ("a\x1b[1m",)})
    view = build_comparison_view(with_metric(summary, everyone=None), found.changes)
    ((what, base, candidate),) = view.differences.rows
    assert what == r"a\nb" and len(base) <= 80 and candidate == "-"
    assert view.answer.notes[0].text == r"a\x1b[1m"
    assert view.everyone.rows[0][1:6] == ("-",) * 5


def test_the_headline_has_the_mean_the_group_that_lost_and_whether_it_lost_more():
    found = compared()
    metric = found.metrics["clicks"]
    mean, lost, more = headline(found.summary).removesuffix(".").split(". ", maxsplit=2)
    assert mean.startswith("On average clicks became worse (4.")
    assert lost.startswith("plan=free lost by more than 0.300 (")
    n_more = metric.n_lost_beyond_tolerance - 1
    assert lost.endswith(f"as did {n_more} more of {metric.n_groups} groups")
    assert more.startswith("plan=free is behind all others (−")
    assert tone_of(found) == "found"
    without_mean = with_metric(found.summary, everyone=None)
    assert headline(without_mean).startswith("plan=free lost")


def test_a_loss_that_all_share_is_no_loss_beyond_the_others():
    users = users_table()
    pair = audited(users, 1), audited(users, 2, {"plan=free": 1.0, "plan=paid": 1.0})
    found = fairrec.compare(*pair)
    assert found.metrics["clicks"].n_lost > 10 and found.metrics["clicks"].n_behind == 0
    assert headline(found.summary).endswith(". No group is shown to be behind all others.")
    mirrored = fairrec.compare(*pair[::-1])
    assert mirrored.summary.outcome == "no loss" and tone_of(mirrored) == "clear"
    assert " No group of a single attribute lost, " in headline(mirrored.summary)


def test_without_a_tolerance_a_group_lost_and_without_a_better_end_it_changed():
    assert ". plan=free lost (" in headline(compared(tolerance=None).summary)
    neutral = compared(better="", tolerance=None)
    assert ". plan=free changed (" in headline(neutral.summary)
    # which is no alarm
    assert tone_of(neutral) == "open"
    counts, *_ = describe_metric(neutral.metrics["clicks"], neutral.summary)
    assert " unlike all others" in counts and "gained" not in counts
    row = view_of(compared(better="")).answer.table.blocks[1].rows[0]
    assert (row.cells[-1], row.served) == ("unlike", "differs")


def test_the_headline_says_how_many_gained_where_no_group_lost():
    better = compared(fall=-1.0)
    n, n_groups = better.metrics["clicks"].n_gained, better.metrics["clicks"].n_groups
    assert f" No group is shown to have lost, {n} of {n_groups} gained." in headline(better.summary)
    same = compared(fall=0.0)
    assert headline(same.summary).startswith("On average clicks did not change significantly (")
    assert headline(same.summary).endswith(" No group is shown to have lost.")
    assert tone_of(same) == "open"
    certain = compared(fall=0.0, tolerance=5.0)
    assert headline(certain.summary).endswith(
        " No group of a single attribute lost by more than 5.00."
    )
    assert tone_of(certain) == "clear"


def test_of_several_metrics_the_means_are_counted_and_the_worst_is_named():
    found, better = compared(), compared(fall=-1.0).summary
    worse = found.summary
    metrics = {"clicks": worse.metrics["clicks"], "views": better.metrics["clicks"]}
    text = headline(worse.model_copy(update={"metrics": metrics}))
    assert text.startswith("On average, of 2 metrics 1 became worse (clicks 4.")
    assert ", 1 improved (views 4." in text
    assert ". In clicks plan=free lost by more than" in text
    metric = found.metrics["clicks"]
    both = found.summary.model_copy(update={"metrics": {"clicks": metric, "views": metric}})
    (other,) = build_comparison_view(both, found.changes).answer.others
    n, n_groups = metric.n_lost_beyond_tolerance, metric.n_groups
    assert other.startswith(f"views: {n} of {n_groups} groups lost by more than 0.300, on average")
    assert "is behind all others in clicks (" in text


def test_what_is_compared_and_how_is_told():
    found = compared()
    about, pairing = view_of(found).answer.about
    assert about == "als 1 (600 users) → candidate (600 users)"
    n_groups = found.metrics["clicks"].n_groups
    assert pairing == (
        "The same 600 users in both audits. "
        f"Intervals of groups hold at 95% for all {n_groups} changes of 1 metric at once, and for "
        "their differences from all others."
    )
    other = found.summary.pairing.model_copy(update={"is_paired": False, "why": "no ids"})
    unpaired = found.summary.model_copy(update={"pairing": other, "unit": ITEMS})
    _, pairing = build_comparison_view(unpaired, found.changes).answer.about
    assert pairing.startswith("Not paired: no ids. ")


def test_a_metric_is_told_by_its_groups_and_by_what_is_ruled_out():
    found = compared()
    counts, ruled_out = describe_metric(found.metrics["clicks"], found.summary)
    assert " lost (" in counts and " behind all others" in counts
    assert counts.endswith(" inconclusive.")
    assert ruled_out.startswith("Ruled out: that another group of ")
    steps = tuple(
        CertifiedSize(support=size, harm=harm, n_groups=3)
        for size, harm in ((10, 0.9), (120, 0.40001), (500, 0.2))
    )
    for points, size, harm in ((steps, 120, "0.401"), (steps[:1], 10, "0.900")):
        metric = found.metrics["clicks"].model_copy(update={"certificate": points})
        *_, text = describe_metric(metric, found.summary)
        assert text.endswith(f"group of {size} users or more lost by more than {harm}.")
    blind = found.metrics["clicks"].model_copy(update={"is_conclusive": False})
    *_, text = describe_metric(blind, found.summary)
    assert text == "Too many users have no value for anything to be ruled out."


@pytest.mark.parametrize(("fall", "better"), [(1.0, "higher"), (-1.0, "lower")])
def test_dots_lie_where_the_changes_are_and_worse_ones_are_marked(fall, better):
    found = compared(fall, better)
    plot = change_plot("clicks", found.summary, found.changes)
    first = plot.rows[0]
    assert (first.label, first.tone) == ("plan=free", "worse")
    assert first.low < first.value < first.high
    is_left = better == "higher"
    assert (first.value < plot.limit < 0) == is_left
    lost = found.changes["outcome"].str.starts_with("lost").sum()
    assert [row.tone for row in plot.rows].count("worse") == lost


def test_an_interval_that_is_not_known_is_a_dash_and_has_no_place():
    found = compared(better="")
    changes = found.changes.with_columns(
        simultaneous_low=pl.lit(None, pl.Float64), simultaneous_high=pl.lit(None, pl.Float64)
    )
    plot = change_plot("clicks", found.summary, changes)
    assert plot.limit is None
    assert {row.low for row in plot.rows} == {None}
    assert {row.after[1][1] for row in plot.rows} == {"-"}


def test_the_page_has_the_answer_every_group_and_can_be_printed():
    found = compared()
    text = comparison_page(found.summary, found.changes)
    page, answer = Tags(text), view_of(found).answer
    assert answer.headline in page.text and answer.about[1] in page.text
    assert 'data-do="print"' in text and "vegaEmbed=" not in text
    # the answer, the metrics, everyone, all groups, and what differs
    assert page.tags.count("table") == 5
    assert page.text.count("plan=free") > found.changes.height / 3


def test_rows_that_are_left_out_are_counted(monkeypatch):
    found = compared()
    monkeypatch.setattr(pages, "ROWS_SHOWN", 5)
    n_more = found.metrics["clicks"].n_groups - 5
    text = comparison_page(found.summary, found.changes)
    assert f"{n_more} rows more in changes.parquet" in text


def test_outside_text_is_shown_as_text():
    users = users_table(**{BAD: [BAD, "fine"] * 300})
    audits = [audited(users, at, title=BAD, model_name=BAD) for at in (1, 2)]
    found = fairrec.compare(*audits)
    for text in (comparison_page(found.summary, found.changes), found._repr_html_()):
        drawn = Tags(text)
        assert "img" not in drawn.tags and "onerror" not in drawn.attributes
        assert BAD in drawn.text


def test_a_card_has_the_answer_and_the_groups_that_changed():
    found = compared()
    card, answer = Tags(found._repr_html_()), view_of(found).answer
    assert not {*card.tags} & {"script", "img", "style", "link"}
    assert answer.headline in card.text
    rows = [row for block in answer.table.blocks for row in block.rows]
    assert len(rows) > 2 and rows[0].label == "all users"
    assert all(cell in card.text for row in rows for cell in (row.label, *row.cells))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    place = tmp_path_factory.mktemp("audits")
    users = users_table()
    audited(users, 1).save(place / "v1", report=False)
    audited(users, 2, {"plan=free": 1.0}, tolerance=0.3).save(place / "v2", report=False)
    return place


@pytest.fixture
def here(folders, monkeypatch):
    monkeypatch.chdir(folders)
    return folders


def test_a_comparison_is_printed_and_written(here, tmp_path):
    ran = run_here("compare", "v1", "v2", "--out", str(tmp_path / "out"))
    assert ran.code == 0
    assert ran.stdout.startswith("On average clicks became worse (")
    assert " plan=free lost by more than 0.300\n(" in ran.stdout
    assert "v1 (600 users) → v2 (600 users)" in ran.stdout
    assert "comparison.json, changes.parquet, report.html" in ran.stderr
    found = fairrec.load(tmp_path / "out")
    assert found.summary.base.name == "v1"
    assert str(here) not in (tmp_path / "out" / "report.html").read_text()
    ran = run_here("report", str(tmp_path / "out"), "--out", str(tmp_path / "again.html"))
    assert ran.code == 0
    assert (tmp_path / "again.html").read_bytes() == (tmp_path / "out/report.html").read_bytes()


def test_markdown_and_json_are_printed_where_asked_for(here, tmp_path):
    ran = run_here("compare", "v1", "v2", "--format", "markdown")
    assert ran.stdout.startswith("# FairRec comparison\n\n**On average clicks became worse ")
    assert "### What else differs" in ran.stdout and "plan=free" in ran.stdout
    ran = run_here("compare", "v1", "v2", "--format", "json", "--tolerance", "clicks=2")
    summary = json.loads(ran.stdout)
    assert summary["metrics"]["clicks"]["tolerance"] == 2
    assert summary["metrics"]["clicks"]["n_lost_beyond_tolerance"] == 0
    ran = run_here("compare", "v1", "v2", "--out", str(tmp_path), "--no-report", "--quiet")
    assert (ran.code, ran.stderr) == (0, "")
    assert not (tmp_path / "report.html").exists()
    assert pl.read_parquet(tmp_path / "changes.parquet").height > 20


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("v1", "nowhere"), "nowhere: is no folder"),
        (("v1", "v2", "--tolerance", "likes=1"), "--tolerance: No audited metric 'likes'"),
        (("v1", "v2", "--out", "v1"), "v1: holds an audit"),
        (("v1", "v2", "--out", "v1", "--force"), "result.json there is read for a comparison"),
        ((".", "v2"), "Is it an audit?"),
    ],
)
def test_bad_input_is_one_message_and_exit_code_two(here, arguments, says):
    ran = run_here("compare", *arguments)
    assert ran.code == 2
    assert says in ran.stderr
    assert "Traceback" not in ran.stderr
