"""test_report"""

from __future__ import annotations

import json

import polars as pl
import pytest

import fairrec
from fairrec.comparison import page as pages
from fairrec.comparison.page import comparison_page
from fairrec.comparison.result import AuditDifference
from fairrec.comparison.view import (
    GROUPS_SHOWN,
    build_comparison_view,
    change_plots,
    changed_groups,
    group_cells,
)
from fairrec.comparison.words import about, build_status, choose_tone, describe_parts, headline, how
from fairrec.core.audited_entity import ITEMS
from fairrec.statistics.verdict import CertifiedSize
from tests.compared_audits import audited, users_table
from tests.comparison.small_comparison import compared, with_metric
from tests.end_to_end.command_line import run_here
from tests.report.tags import BAD, Tags


def test_tables_hold_the_means_the_gaps_the_groups_and_what_else_differs():
    found = compared()
    view = build_comparison_view(found.summary)
    metric = found.metrics["clicks"]
    assert [table.title for table in view.tables] == [
        "All users, and the gap between the best and the worst served intersection",
        "Groups that changed",
        "What else differs",
    ]
    first = view.groups.rows[0]
    assert first[:3] == ("clicks", "plan=free", f"{metric.lost[0].support:,}")
    assert first[-1] == "lost beyond tolerance, behind others"
    (row,) = view.everyone.rows
    assert row[1] == "600"
    assert row[-1] == "lost by more than 0.300"
    assert ("model", "als 1", "-") in view.differences.rows
    assert all(len(row) == len(table.columns) for table in view.tables for row in table.rows)


def test_of_many_groups_the_first_are_shown_and_the_rest_counted():
    summary = compared().summary
    metric = summary.metrics["clicks"]
    many = (metric.lost * 50)[:50]
    view = build_comparison_view(with_metric(summary, lost=many, n_lost=200, behind=()))
    assert len(view.groups.rows) == GROUPS_SHOWN
    assert view.groups.note == f"and {200 - GROUPS_SHOWN} more in changes.parquet"


def test_what_rounding_leaves_of_a_change_of_all_is_nothing():
    summary = compared().summary
    everyone = summary.metrics["clicks"].everyone
    same = everyone.model_copy(update={"change": 1.1e-16, "interval": None})
    (row,) = build_comparison_view(with_metric(summary, everyone=same)).everyone.rows
    assert row[4] == "0"


def test_groups_that_gained_are_shown_too():
    view = build_comparison_view(compared(fall=-1.0).summary)
    assert {row[-1] for row in view.groups.rows} == {"gained", "inconclusive, behind others"}
    assert view.groups.rows[-1][-1] == "gained"


def test_a_group_is_behind_others_that_gained_more():
    found = compared(fall=-1.0).metrics["clicks"]
    (group,) = [one for one in found.behind if one.group == {"plan": "paid"}]
    view = build_comparison_view(with_metric(compared(fall=-1.0).summary, behind=(group,)))
    assert view.groups.rows[0][1] == "plan=paid"
    assert view.groups.rows[0][-1] == "inconclusive, behind others"


def test_a_change_where_no_end_is_better_is_no_loss():
    view = build_comparison_view(compared(better="", tolerance=0.3).summary)
    assert view.groups.rows[0][-1].startswith("changed beyond tolerance")


def test_outside_text_is_on_one_line_and_cut():
    odd = AuditDifference(what="a\nb", base="x" * 500, candidate="")
    summary = compared().summary.model_copy(update={"differences": (odd,), "notes": ("a\x1b[1m",)})
    view = build_comparison_view(with_metric(summary, everyone=None))
    ((what, base, candidate),) = view.differences.rows
    assert what == r"a\nb" and len(base) <= 80 and candidate == "-"
    assert view.notes == (r"a\x1b[1m",)
    assert view.everyone.rows[0][1:6] == ("-",) * 5


def test_the_answer_has_the_mean_the_group_that_lost_and_whether_it_lost_more():
    summary = compared().summary
    mean, lost, more = headline(summary).removesuffix(".").split(". ", maxsplit=2)
    assert mean.startswith("On average clicks became worse (4.")
    n_more = summary.metrics["clicks"].n_lost_beyond_tolerance - 1
    assert lost.startswith("plan=free lost by more than 0.300 (")
    assert lost.endswith(f"as did {n_more} more of {summary.metrics['clicks'].n_groups} groups")
    assert more.startswith("plan=free lost more than all others (−")
    assert choose_tone(summary) == "found"


def test_a_loss_that_all_share_is_no_loss_beyond_the_others():
    users = users_table()
    pair = audited(users, 1), audited(users, 2, {"plan=free": 1.0, "plan=paid": 1.0})
    summary = fairrec.compare(*pair).summary
    assert summary.metrics["clicks"].n_lost > 10
    assert headline(summary).endswith(". None is shown to have lost more than all others.")
    assert summary.metrics["clicks"].n_behind == 0
    turned = fairrec.compare(*pair[::-1]).summary
    assert turned.outcome == "no loss" and choose_tone(turned) == "clear"
    assert headline(turned).startswith("On average clicks improved (3.")
    assert " No group of a single attribute lost, " in headline(turned)
    assert headline(turned).endswith(" None is shown to have gained less than all others.")


def test_without_an_amount_a_group_lost_and_without_a_better_end_it_changed():
    assert ". plan=free lost (" in headline(compared(tolerance=None).summary)
    neutral = compared(better="", tolerance=None).summary
    assert ". plan=free changed (" in headline(neutral)
    # which is no alarm
    assert choose_tone(neutral) == "open"
    assert build_status(neutral.metrics["clicks"]) == "changed"


def test_the_answer_says_how_many_gained_where_no_group_lost():
    better = compared(fall=-1.0).summary
    n, n_groups = better.metrics["clicks"].n_gained, better.metrics["clicks"].n_groups
    assert f" No group is shown to have lost, {n} of {n_groups} gained." in headline(better)
    assert better.outcome == "gained"
    # a group that gained in two metrics is one group
    one = better.metrics["clicks"]
    twice = better.model_copy(update={"metrics": {"clicks": one, "views": one}})
    assert headline(twice).startswith("On average both metrics improved (clicks 4.")
    assert f"lost, up to {n} of {n_groups} gained." in headline(twice)
    thrice = better.model_copy(update={"metrics": dict.fromkeys(("a", "b", "c"), one)})
    assert headline(thrice).startswith("On average all 3 metrics improved (a 4.")
    same = compared(fall=0.0).summary
    assert headline(same).startswith("On average clicks did not change significantly (")
    assert headline(same).endswith(" No group is shown to have lost.")
    assert choose_tone(same) == "open"
    certain = compared(fall=0.0, tolerance=5.0).summary
    assert headline(certain).endswith(" No group of a single attribute lost by more than 5.00.")
    assert choose_tone(certain) == "clear"


def test_of_metrics_that_part_it_is_said_how_many_went_which_way():
    worse, better = compared().summary, compared(fall=-1.0).summary
    metrics = {"clicks": worse.metrics["clicks"], "views": better.metrics["clicks"]}
    said = headline(worse.model_copy(update={"metrics": metrics}))
    assert said.startswith("On average, of 2 metrics 1 became worse (clicks 4.")
    assert ", 1 improved (views 4." in said
    assert ". In clicks plan=free lost by more than" in said
    assert "lost more than all others in clicks (" in said


def test_what_is_compared_and_how_is_told():
    summary = compared().summary
    assert about(summary) == "als 1 (600 users) → candidate (600 users)"
    n_groups = summary.metrics["clicks"].n_groups
    assert how(summary) == (
        "The same 600 users in both audits. "
        f"Intervals of groups hold at 95% for all {n_groups} changes of 1 metric at once, and for "
        "their differences from all others."
    )
    pairing = summary.pairing.model_copy(update={"is_paired": False, "why": "no ids"})
    unpaired = summary.model_copy(update={"pairing": pairing})
    assert how(unpaired).startswith("Two sets of users, not paired: no ids. ")
    # the same items, which are not paired either
    items = unpaired.model_copy(update={"unit": ITEMS})
    assert how(items).startswith("Not paired: no ids. ")


def test_where_no_end_is_better_groups_changed():
    neutral = compared(better="", tolerance=None).summary
    counts, *_ = describe_parts("clicks", neutral)
    assert " changed unlike all others" in counts and "gained" not in counts
    changed = {
        "n_groups": 13,
        "n_lost": 4,
        "n_lost_beyond_tolerance": 1,
        "n_behind": 2,
        "n_ruled_out": 7,
    }
    changed["n_open"] = 2
    counts, *_ = describe_parts("clicks", with_metric(neutral, tolerance=0.5, **changed))
    assert counts == (
        "Of 13 groups 4 changed (1 by more than 0.500), 2 changed unlike all others, 7 changed by "
        "no more than 0.500 if at all, 2 are inconclusive."
    )


def test_a_metric_is_told_by_its_groups_and_by_what_is_ruled_out():
    counts, ruled_out = describe_parts("clicks", compared().summary)
    assert " lost (" in counts and " lost more, or gained less, than all others" in counts
    assert counts.endswith(" inconclusive.")
    assert ruled_out.startswith("Ruled out: that a group of ")


def test_of_what_is_ruled_out_the_usual_sizes_are_told():
    steps = tuple(
        CertifiedSize(support=size, harm=harm, n_groups=3)
        for size, harm in ((10, 0.9), (120, 0.4), (500, 0.2), (2000, 0.1))
    )
    summary = with_metric(compared().summary, certificate=steps)
    *_, said = describe_parts("clicks", summary)
    assert said.endswith(
        "of 120 users or more, other than those that did, lost by more than "
        "0.400; of 2,000 or more by 0.100."
    )
    *_, said = describe_parts("clicks", with_metric(summary, certificate=steps[:1]))
    assert "a group of 10 users or more" in said
    *_, said = describe_parts("clicks", with_metric(summary, is_conclusive=False))
    assert said == "Too many users have no value for anything to be ruled out."


def test_a_metric_nobody_has_twice_is_told_without_its_mean():
    summary = with_metric(compared().summary, everyone=None)
    assert headline(summary).startswith("plan=free lost")


def test_an_audit_compared_with_itself_has_the_same_values_of_all_users():
    users = users_table()
    same = fairrec.compare(audited(users, 1), audited(users, 1)).summary
    n_users = same.pairing.n_shared
    assert headline(same).startswith(f"All {n_users} users have the same values in both audits. ")


def test_values_that_change_places_are_not_the_same():
    users = users_table()
    by_place = [pl.Series("clicks", [(i + one) % 2 for i in range(users.height)]) for one in (0, 1)]
    swapped = [
        fairrec.audit(
            values=users.with_columns(one), by="plan", tables=fairrec.Tables(better="clicks=higher")
        )
        for one in by_place
    ]
    said = headline(fairrec.compare(*swapped).summary)
    assert said.startswith("On average clicks did not change (0.500")


def test_dots_lie_where_the_changes_are_and_worse_ones_are_marked():
    found = compared()
    (plot,) = change_plots(found.summary, found.changes)
    assert (plot.metric, plot.status) == ("clicks", "lost by more than 0.300")
    first = plot.rows[0]
    assert first.cells[0] == "plan=free"
    assert first.moved == "worse"
    low, high = first.span
    assert 0 <= low < first.at < high < plot.tolerance < plot.zero <= 100
    lost = found.changes["outcome"].str.starts_with("lost").sum()
    assert [row.moved for row in plot.rows].count("worse") == lost


def test_where_lower_is_better_the_limit_is_on_the_other_side():
    found = compared(fall=-1.0, better="lower")
    (plot,) = change_plots(found.summary, found.changes)
    assert plot.rows[0].moved == "worse"
    assert plot.zero < plot.tolerance


def test_without_a_better_end_nothing_is_worse():
    found = compared(better="")
    (plot,) = change_plots(found.summary, found.changes)
    beyond = {row.moved for row in plot.rows if row.cells[-1].startswith("changed")}
    assert beyond == {"changed"}
    assert plot.tolerance is None


def test_of_many_groups_those_that_lost_those_that_gained_and_the_largest_are_shown():
    found = compared()
    few = changed_groups("clicks", found.summary, found.changes, 4)
    assert len(few) == 4
    assert [group.moved for group in few][:2] == ["worse", "worse"]
    everyone = changed_groups("clicks", found.summary, found.changes, 1000)
    assert len(everyone) == found.changes.height
    quiet = [group.support for group in everyone if group.moved == "within"]
    assert quiet[0] == max(quiet)


def test_an_interval_that_is_not_known_is_a_dash():
    found = compared()
    metric = found.metrics["clicks"]
    (group,) = changed_groups("clicks", found.summary, found.changes, 1)
    assert " to " in group_cells(group, metric)[5]
    changes = found.changes.with_columns(simultaneous_low=None, simultaneous_high=None)
    (blind,) = changed_groups("clicks", found.summary, changes, 1)
    assert group_cells(blind, metric)[5] == "-"
    (plot,) = change_plots(found.summary, changes)
    assert {row.span for row in plot.rows} == {None}


@pytest.mark.parametrize(
    ("fall", "verdict"),
    [(-1.0, "inconclusive, behind others"), (1.0, "lost beyond tolerance, behind others")],
)
def test_a_group_has_its_verdict(fall, verdict):
    found = compared(fall=fall)
    (group,) = changed_groups("clicks", found.summary, found.changes, 1)
    assert group_cells(group, found.metrics["clicks"])[-1] == verdict


def test_the_page_has_the_answer_every_group_and_no_script():
    found = compared()
    page = Tags(comparison_page(found.summary, found.changes))
    view = build_comparison_view(found.summary)
    assert view.answer.headline in page.text and view.how in page.text
    assert "script" not in page.tags
    assert "script-src &#39;none&#39;" in comparison_page(found.summary, found.changes)
    # dots, all groups, everyone and what differs
    assert page.tags.count("table") == 4
    assert page.text.count("plan=free") > found.changes.height / 2


def test_a_page_of_very_many_groups_says_what_it_leaves_out(monkeypatch):
    found = compared()
    monkeypatch.setattr(pages, "ROWS_OF_TABLE", 5)
    text = comparison_page(found.summary, found.changes)
    assert f"and {found.changes.height - 5} more in changes.parquet" in text


def test_outside_text_is_shown_as_text():
    users = users_table(**{BAD: [BAD, "fine"] * 300})
    audits = [audited(users, at, title=BAD, model_name=BAD) for at in (1, 2)]
    found = fairrec.compare(*audits)
    for text in (comparison_page(found.summary, found.changes), found._repr_html_()):
        drawn = Tags(text)
        assert "img" not in drawn.tags and "onerror" not in drawn.attributes
        assert BAD in drawn.text


def test_a_card_has_the_answer_and_the_groups_that_changed():
    summary = compared().summary
    card, answer = Tags(compared()._repr_html_()), build_comparison_view(summary).answer
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


def test_markdown_and_json_are_printed_where_asked_for(here):
    ran = run_here("compare", "v1", "v2", "--format", "markdown")
    assert ran.stdout.startswith("# FairRec comparison\n\n**On average clicks became worse ")
    assert "### Groups that changed" in ran.stdout
    ran = run_here("compare", "v1", "v2", "--format", "json", "--tolerance", "clicks=2")
    summary = json.loads(ran.stdout)
    assert summary["metrics"]["clicks"]["tolerance"] == 2
    assert summary["metrics"]["clicks"]["n_lost_beyond_tolerance"] == 0


def test_without_a_page_there_is_none(here, tmp_path):
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
