"""A trend in words."""

from __future__ import annotations

import io

from rich.console import Console

import fairrec
from fairrec.trends.words import print_trend, trend_markdown, trend_view, worse_since_line
from tests.trends.trend_builders import release, six_releases, users_of


def test_the_headline_names_group_release_and_metric():
    view = trend_view(fairrec.trend(six_releases()).summary)
    assert view.headline == "gender=F, age=old is worse since 1.4 in score, and 2 more groups"
    assert view.worse[0].startswith("gender=F, age=old: score worse since 1.4, its harm grew by ")
    assert view.worse[0].endswith("first said at 1.4)")
    assert "6 releases, 1.1 to 1.6, in the order given; score." in view.about
    assert "at 95% for 8 groups of all releases" in view.about
    assert view.details[0].rows[0][:2] == ("1.1", "200")


def test_nothing_shown_is_no_all_clear():
    view = trend_view(fairrec.trend([release(seed) for seed in range(20, 23)]).summary)
    assert view.headline == "No group is shown to be worse since any of 3 releases"
    assert view.worse == ()
    assert "Nothing shown is no all-clear" in view.lines.note


def test_a_group_that_is_worse_by_all_releases_together_is_in_the_headline():
    audits = [release(seed, 0.6, users_of(first=1000 * seed)) for seed in range(4)]
    view = trend_view(fairrec.trend(audits, group="gender=F,age=old").summary)
    assert view.lines.rows[0][-1].startswith("worse by ")
    assert view.headline == (
        "gender=F, age=old is worse in score by all releases together; none is shown to have "
        "become worse since any of 4 releases"
    )


def test_a_group_that_is_no_longer_worse_is_told_apart():
    back = fairrec.trend([*six_releases(), release(30)], group="gender=F,age=old").summary
    assert trend_view(back).worse == ()
    (said,) = trend_view(back).back
    assert said.endswith("; not in the newest release")
    assert trend_view(back).lines.rows[0][5] == "1.4 (not in the newest)"


def test_hostile_names_stay_text():
    name = "v|1 <script>alert(1)</script> [red]x[/red] \x1b[31m"
    summary = fairrec.trend([release(1, model_version=name), *six_releases()[1:]]).summary
    text = trend_markdown(trend_view(summary))
    assert "<script>" not in text and "\x1b" not in text
    header = next(line for line in text.splitlines() if line.startswith("| group"))
    assert header.replace(r"\|", "").count("|") == 8
    console = Console(file=io.StringIO(), width=300, highlight=False)
    print_trend(trend_view(summary), console)
    printed = console.file.getvalue()
    assert "[red]x[/red]" in printed and "\x1b[31m" not in printed


def test_a_group_that_lost_some_of_its_lead_is_not_called_worse_than_all_others():
    line = fairrec.trend(six_releases()).summary.worse[0]
    assert "better than all others" not in worse_since_line(line)
    since = line.worse_since.model_copy(update={"before": -0.9, "growth": 0.4})
    ahead = worse_since_line(line.model_copy(update={"worse_since": since}))
    assert "grew by 0.400 from −0.900, and is still better than all others (" in ahead
