"""A trend in words, as a page, and by the command."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import fairrec
from fairrec.report.page.vega import WORSE, Figure
from fairrec.trends import page as module
from fairrec.trends.page import axis_range, trend_chart, trend_page
from fairrec.trends.result import TrendLine
from fairrec.trends.words import describe_growth, growths, lines_table, trend_answer, trend_markdown
from tests.end_to_end.command_line import run_here
from tests.report.drawing import svg
from tests.report.small_view import answer_text
from tests.trends.trend_builders import release, six_releases, users_of


def test_the_headline_names_group_release_and_metric():
    summary = fairrec.trend(six_releases()).summary
    answer = trend_answer(summary)
    assert answer.headline == "gender=F, age=old is worse since 1.4 in score, and 2 more groups"
    assert answer.sentences[0].startswith("gender=F, age=old: harm in score rose from ")
    assert answer.sentences[0].endswith("first detected at 1.4)")
    assert "6 releases, 1.1 to 1.6, in the order given; score." in answer.about[0]
    assert "at 95% under repeated looks, across 8 groups of all releases" in answer.about[0]


def test_nothing_found_does_not_show_that_groups_are_equal():
    summary = fairrec.trend([release(seed) for seed in range(20, 23)]).summary
    headline = trend_answer(summary).headline
    assert headline == "No group is significantly worse since any of 3 releases"
    assert growths(summary) == ()
    assert lines_table(summary).note.endswith("Not significant does not mean equal.")


def test_a_group_that_is_worse_in_all_releases_is_worse_all_along():
    audits = [release(seed, 0.6, users_of(first=1000 * seed)) for seed in range(4)]
    summary = fairrec.trend(audits, group="gender=F,age=old").summary
    (row,) = lines_table(summary).rows
    assert row[-2] == "worse all along" and row[-1].startswith("worse by ")
    assert trend_answer(summary).table.blocks[0].rows[0].cells[-1] == "worse all along"
    assert trend_answer(summary).headline == (
        "gender=F, age=old is worse in score by all releases together; none is shown to have "
        "become worse since any of 4 releases"
    )


def test_a_group_that_is_no_longer_worse_is_told_apart():
    back = fairrec.trend([*six_releases(), release(30)], group="gender=F,age=old").summary
    assert trend_answer(back).sentences == ()
    (text,) = growths(back)
    assert text.endswith("; not in the newest release")
    assert lines_table(back).rows[0][5] == "1.4 (not in the newest)"


def test_hostile_names_stay_text():
    name = "v|1 <script>alert(1)</script> [red]x[/red] \x1b[31m"
    summary = fairrec.trend([release(1, model_version=name), *six_releases()[1:]]).summary
    text = trend_markdown(summary)
    assert "<script>" not in text and "\x1b" not in text
    header = next(line for line in text.splitlines() if line.startswith("| group"))
    assert header.replace(r"\|", "").count("|") == 8
    printed = answer_text(trend_answer(summary))
    assert "[red]x[/red]" in printed and "\x1b" not in printed


def test_a_group_that_lost_its_lead_is_not_called_worse():
    summary = fairrec.trend(six_releases()).summary
    line = summary.worse[0]
    since = line.worse_since.model_copy(update={"before": -0.9, "growth": 0.901})
    newest = line.points[-1].model_copy(update={"harm": -0.002, "outcome": "inconclusive"})
    points = *line.points[:-1], newest
    level = line.model_copy(update={"worse_since": since, "points": points, "together": None})
    answer = trend_answer(summary.model_copy(update={"lines": (level,)}))
    assert answer.headline == (
        "gender=F, age=old: harm in score rose since 1.4, −0.900 → −0.00200 (not shown to be "
        "above 0)"
    )
    assert answer.tone == "open" and answer.table.blocks[0].rows[0].served is None
    assert "rose from −0.900 to +0.00100 at 1.4 (" in describe_growth(level)


def test_the_page_has_the_answer_a_chart_for_each_line_and_its_numbers():
    summary = fairrec.trend(six_releases()).summary
    page = trend_page(summary)
    assert "<h1><bdi>gender=F, age=old is worse since 1.4 in score" in page
    charts = page.count('data-chart="charts-')
    assert charts == len(summary.lines) == page.count('<details class="numbers">')
    assert not re.search(r'(src|href)="http', page)
    # a group of a single release is in the table alone
    line, *others = summary.lines
    once = line.model_copy(update={"points": (*line.points[:1], *(None for _ in line.points[1:]))})
    page = trend_page(summary.model_copy(update={"lines": (once, *others)}))
    assert page.count('data-chart="charts-') == charts - 1 and "1 more in the table" in page


def test_more_lines_than_charts_are_said(monkeypatch):
    monkeypatch.setattr(module, "MOST_CHARTS", 2)
    summary = fairrec.trend(six_releases()).summary
    page = trend_page(summary)
    assert page.count('data-chart="charts-') == 2
    assert f"{len(summary.lines) - 2} more in the table" in page


def test_hostile_text_is_escaped():
    name = '"><script>alert(1)</script>'
    audits = [release(seed, 1.0 * (seed > 3), model_version=name, title="t") for seed in range(7)]
    page = trend_page(fairrec.trend(audits, command=f"x {name}").summary)
    assert "<script>alert" not in page and "&lt;script&gt;" in page


def drawn(audits) -> tuple[TrendLine, Figure]:
    summary = fairrec.trend(audits, group="gender=F,age=old").summary
    (line,) = summary.lines
    return line, trend_chart(line, summary.releases, axis_range([line]))


def test_harms_intervals_and_the_release_since_which_it_is_worse_are_drawn():
    line, figure = drawn(six_releases())
    rows = figure.data["points"]
    assert [row["harm"] for row in rows] == [point.harm for point in line.points]
    assert [(row["low"], row["high"]) for row in rows] == [one.interval for one in line.points]
    assert figure.data["since"] == [{"release": "1.4"}]
    picture = svg(figure.chart())
    assert WORSE in picture and ">1.6<" in picture


def test_a_line_that_did_not_grow_has_no_mark_and_one_with_a_gap_is_broken():
    few = users_of().filter((users_of()["gender"] != "F") | (users_of()["age"] != "old"))
    line, figure = drawn([release(1), release(2), release(3, users=few), release(4), release(5)])
    assert line.points[2] is None
    assert figure.data["since"] == []
    assert [row["run"] for row in figure.data["points"]] == [0, 0, 1, 1]
    assert WORSE not in svg(figure.chart())


def test_an_interval_without_a_limit_ends_with_the_axis():
    line, _ = drawn(six_releases()[:2])
    point = line.points[0].model_copy(update={"interval": (None, 50.0)})
    wide = line.model_copy(update={"points": (point, line.points[1])})
    low, high = axis_range([wide])
    summary = fairrec.trend(six_releases()[:2]).summary
    first = trend_chart(wide, summary.releases, (low, high)).data["points"][0]
    assert (first["low"], first["high"]) == (low, high)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for number, audit in enumerate(six_releases(), start=1):
        audit.save(tmp_path / "audits" / f"r{number}", report=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_releases_are_named_one_by_one_and_written(here: Path):
    folders = [f"audits/r{number}" for number in range(1, 7)]
    ran = run_here("trend", *folders, "--out", "out")
    assert ran.code == 0, ran.stderr
    assert ran.stdout.startswith("gender=F, age=old is worse since 1.4 in score")
    assert ran.stderr == "Written to out: trend.json, report.html\n"
    told = json.loads((here / "out" / "trend.json").read_text())
    assert told["command"] == f"fairrec trend {' '.join(folders)}"
    assert told["order"] == "as given"
    page = (here / "out" / "report.html").read_bytes()
    assert run_here("report", "out", "--out", "again.html").code == 0
    assert (here / "again.html").read_bytes() == page


def test_a_history_is_looked_at_as_a_whole(here: Path):
    ran = run_here(
        *("trend", "--history", "audits", "--format", "json", "--alpha", "0.01"),
        *("--group", "gender=F,age=old", "--group", "gender=M", "--metric", "score"),
        *("--out", "out", "--no-report", "--quiet"),
    )
    assert (ran.code, ran.stderr) == (0, "")
    told = json.loads(ran.stdout)
    assert [line["group"] for line in told["lines"]] == [
        {"gender": "F", "age": "old"},
        {"gender": "M"},
    ]
    assert (told["alpha"], told["order"], told["n_groups"]) == (0.01, "made_at", 2)
    assert [file.name for file in (here / "out").iterdir()] == ["trend.json"]


def test_markdown_is_for_a_pull_request(here: Path):
    ran = run_here("trend", "--history", "audits", "--format", "markdown")
    assert ran.stdout.startswith("# FairRec trend\n\n**gender=F, age=old is worse since 1.4")


def test_a_release_that_is_looked_at_is_not_replaced(here: Path):
    ran = run_here("trend", "audits/r1", "audits/r2", "--out", "audits/r1", "--force")
    assert ran.code == 2 and "result.json there is read for a trend" in ran.stderr
    assert (here / "audits/r1/result.json").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "two releases at least, not 0"),
        (("audits/r1",), "two releases at least"),
        (("audits/r1", "nowhere"), "is no folder"),
        (("--history", "audits", "--group", "gender"), "invalid --group: expected"),
        (("--history", "audits", "--metric", "scor"), "Did you mean 'score'"),
    ],
)
def test_bad_input_is_one_message_and_exit_2(here: Path, arguments: tuple[str, ...], says: str):
    ran = run_here("trend", *arguments)
    assert ran.code == 2
    assert says in ran.stderr and "Traceback" not in ran.stderr
