"""The page in a real browser: what it shows, that it works, and that nothing outside gets in."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.core.errors import plain
from fairrec.report.words import group_label, number
from tests.builders import make_tables, one_each, two_groups
from tests.end_to_end.command_line import run_here, write_tables
from tests.end_to_end.made_results import mitigated
from tests.end_to_end.opened_page import PHONE, WIDE, Opened


def test_the_page_draws_every_chart_without_complaint_and_without_the_network(opened: Opened):
    page = opened.page
    assert page.locator("h1").inner_text().startswith("gender=F, age=65+ is served worse: auc 0.")
    assert page.locator("#groups-0 .mark-symbol path").count() >= 171
    # eight combinations, and the outline of the one that is a finding
    assert page.locator("#pair-plot .mark-rect.role-mark path").count() == 8 + 1
    assert page.locator("#ruled-out .plot .mark-line path").count() == 2
    policy = page.locator("meta[http-equiv]").get_attribute("content")
    assert "default-src 'none'" in policy
    assert "unsafe-eval" not in policy


def test_columns_are_sorted_by_their_numbers_both_ways(opened: Opened):
    assert opened.sort("users") == "ascending"
    users = [int(text.replace(",", "")) for text in opened.rows(2)]
    assert users == sorted(users)
    assert opened.sort("users") == "descending"
    users = [int(text.replace(",", "")) for text in opened.rows(2)]
    assert users == sorted(users, reverse=True)
    assert users[0] > 1000
    opened.sort("difference")
    differences = [float(text.replace("−", "-")) for text in opened.rows(4)]
    # by all their digits, of which as many are shown as their intervals need
    assert differences == pytest.approx(sorted(differences), abs=5e-4)
    assert opened.page.locator("#all th[aria-sort]").count() == 1


def test_the_table_is_searched_and_filtered(opened: Opened):
    page = opened.page
    page.fill("#find", "65+ gender=f")
    groups = {text.split("\n")[0] for text in opened.rows(1)}
    assert groups
    assert all("gender=F, age=65+" in group for group in groups)
    page.select_option("#filter-metric", label="mrr@5")
    assert {*opened.rows(0)} == {"mrr@5"}
    page.select_option("#filter-attribute", label="job")
    assert all("job=" in text for text in opened.rows(1))
    page.fill("#filter-users", "15")
    assert min(int(text) for text in opened.rows(2)) >= 15
    page.fill("#find", "no such value")
    assert opened.rows(1) == []
    assert page.locator("#count").inner_text() == "0 of 342 rows"
    page.click(".filters [type=reset]")
    opened.wait("document.querySelectorAll('#all tbody tr').length === 50")
    page.check("#filter-findings")
    assert {*opened.rows(1)} == {"gender=F, age=65+ finding"}
    page.uncheck("#filter-findings")
    page.click("#more")
    assert len(opened.rows(0)) == 250


def wait_for_rings(opened: Opened, n_rings: int) -> None:
    """Wait until so many groups are ringed in the chart of each metric."""
    for at in (0, 1):
        ring = f"#groups-{at} .mark-symbol path[stroke='#b07d00']"
        opened.wait(f'document.querySelectorAll("{ring}").length === {n_rings}')


def test_choosing_a_group_marks_it_in_every_chart_table_and_card(opened: Opened):
    page = opened.page
    opened.reload()
    wait_for_rings(opened, 0)
    page.locator(".finding button").first.click()
    wait_for_rings(opened, 1)
    assert page.locator("#chosen-label").inner_text() == "gender=F, age=65+"
    assert page.locator("#all tr.chosen-row").count() == 2
    assert page.locator(".finding.is-chosen").count() == 1
    assert page.locator("#pair-plot path[stroke-width='4.5']").count() == 1
    page.keyboard.press("Escape")
    wait_for_rings(opened, 0)
    assert page.locator("#chosen").is_hidden()
    page.locator("#all tbody button").nth(5).click()
    label = page.locator("#all tbody button").nth(5).inner_text()
    assert page.locator("#chosen-label").inner_text() == label
    wait_for_rings(opened, 1)
    # a point: drawn last among its equals, so nothing lies on top of it
    page.locator("#groups-1 .mark-symbol path[d*='L']").first.click(force=True)
    assert page.locator("#chosen-label").inner_text() != label
    wait_for_rings(opened, 1)


def test_pairs_are_chosen_by_attribute_and_metric(opened: Opened):
    page = opened.page
    # those of the strongest finding first
    assert page.eval_on_selector("#pair", "one => one.selectedOptions[0].text") == "gender and age"
    assert page.locator("#pair-plot .role-legend").count() == 1
    page.select_option("#pair", label="gender and job")
    opened.wait("document.querySelector('#pair-words').textContent.includes('job')")
    page.select_option("#pair-metric", label="mrr@5")
    opened.wait("document.querySelector('#pair-words').textContent.includes('mrr')")
    opened.wait("document.querySelectorAll('#pair-plot .mark-rect path').length > 20")


@pytest.mark.parametrize("viewport", [PHONE, WIDE], ids=["phone", "wide"])
def test_nothing_is_wider_than_the_screen(opened: Opened, viewport: dict[str, int]):
    opened.page.set_viewport_size(viewport)
    opened.reload()
    wide = opened.page.evaluate(
        """() => [...document.querySelectorAll('body *')].filter(part =>
            !part.closest('.scroll, svg, .hidden, .skip, [hidden]')
            && part.getBoundingClientRect().right > innerWidth + 0.5
        ).map(part => part.outerHTML.slice(0, 80))"""
    )
    assert wide == []
    assert opened.page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
    # tables in cards stack, so that their verdicts are seen without scrolling
    cells = opened.page.locator(".finding td:last-child")
    assert all(cell.bounding_box()["x"] < viewport["width"] - 60 for cell in cells.all())


MOST_BYTES = 3_500_000

HOSTILE = [
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 1'>",
    "\"quoted\" 'twice' `thrice` &lt;b&gt; &amp;",
    "=1+1 {{ 7 * 7 }} {% raw %} ${x}",
    "]]><!-- --!> <!--<script>",
    "abc\u202edef\u200fghi",
    "أطفال, 子供",
    "\\u003c\\x3c \\",
    "__proto__",
    "w" * 10_000,
]


def test_hostile_text_is_shown_as_text_and_breaks_nothing(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    ids = [f"{HOSTILE[i % len(HOSTILE)]}{i}" for i in range(16 * len(HOSTILE))]
    names = [HOSTILE[0], HOSTILE[1].replace(",", ";"), 'constructor"']
    users = pl.DataFrame(
        {
            "user_id": ids,
            names[0]: [HOSTILE[i // 16] for i in range(len(ids))],
            names[1]: [HOSTILE[i % 2] for i in range(len(ids))],
            names[2]: ["=cmd|' /C calc'!A0", "<b>"] * (len(ids) // 2),
        }
    )
    predictions = one_each({user: 4 if i < 16 else 1 + i % 3 for i, user in enumerate(ids)})
    write_tables(tmp_path, make_tables()._replace(predictions=predictions))
    file = "<img src=x onerror=alert(1)>\"'\u202e.parquet"
    users.write_parquet(tmp_path / file)
    ran = run_here(
        *("audit", "predictions.parquet", "--users", file, "--permutations", "99"),
        *("--by", ",".join(names), "--metrics", "mrr,auc", "--out", "out", "--min-support", "2"),
    )
    assert ran.code == 0, ran.stderr
    page_file = tmp_path / "out/report.html"
    assert page_file.stat().st_size <= MOST_BYTES
    opened = Opened(browser, page_file)
    opened.draw_everything()
    page = opened.page
    page.click("#more")
    text = page.locator("body").inner_text()
    squeezed = re.sub(r"\s+", " ", text)
    for value in HOSTILE:
        label = group_label({names[0]: value})
        assert re.sub(r"\s+", " ", label) in squeezed, value
    assert "\u202e" not in text
    assert plain(file) in squeezed
    page.locator(".finding button").first.click()
    assert page.locator("#chosen-label").inner_text() == group_label({names[0]: HOSTILE[0]})
    page.locator("#groups-0 .mark-symbol path").last.hover(force=True)
    for at in range(page.locator("#pair option").count()):
        page.select_option("#pair", index=at)
    page.fill("#find", HOSTILE[0])
    assert len(opened.rows(1)) >= 2
    assert page.locator("main img").count() == 0
    assert page.locator("script").count() == 3
    for viewport in (WIDE, PHONE):
        page.set_viewport_size(viewport)
        opened.reload()
        page.click("#more")
        assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
        assert page.evaluate("window.hacked") is None
    assert opened.complaints == []
    assert {*opened.requests} == {page_file.as_uri()}
    opened.context.close()


def test_of_very_many_groups_some_are_shown_and_all_are_linked(browser: Any, tmp_path: Path):
    rng = np.random.default_rng(0)
    n_users = 20_000
    values = [f"{'子供' * 30} {i}" for i in range(100)]
    columns = {
        f"attribute {name}": [values[code] for code in rng.integers(0, 100, n_users)]
        for name in "abc"
    }
    predictions, users = two_groups(n_users, **columns)
    result = fairrec.audit(
        predictions,
        users=users,
        by=list(columns),
        metrics="mrr,hit@1",
        statistics=fairrec.Statistics(permutations=19),
        min_support=1,
    )
    assert result.groups("mrr").height > 40_000
    page_file = result.save(tmp_path) / "report.html"
    assert page_file.stat().st_size <= MOST_BYTES
    opened = Opened(browser, page_file)
    opened.draw_everything()
    note = opened.page.locator("#table .note").inner_text()
    assert re.search(r"[\d,]+ rows are left out", note)
    n_all = sum(f.height for f in (result.groups("mrr"), result.groups("hit@1")))
    assert f" of {n_all:,} rows" in opened.page.locator("#count").inner_text()
    link = opened.page.locator("#table .note a").get_attribute("href")
    assert (tmp_path / link).exists()
    assert "At most 1,000 groups are drawn" in opened.page.locator("#groups-0-words").inner_text()
    assert opened.page.locator("#groups-0 .mark-symbol.role-mark path").count() > 900
    assert opened.complaints == []
    opened.context.close()


def test_a_mitigation_shows_its_section_and_draws_its_curves(browser: Any, tmp_path: Path):
    hostile = "<script>alert('x')</script>"
    result = mitigated(hostile)
    assert any(hostile in group.group.values() for group in result.summary.groups)
    folder = result.save(tmp_path / "fixed")
    for viewport in (WIDE, PHONE):
        opened = Opened(browser, folder / "report.html", viewport=viewport)
        opened.draw_everything()
        page = opened.page
        title = page.locator("h1").inner_text()
        assert title.startswith("The urd@3 of the 3 chosen groups went from")
        assert page.locator("#mitigation .plot svg").count() == 2
        assert number(result.effect.chosen.before) in page.locator(".answer-table").text_content()
        assert hostile in page.locator("#mitigation").text_content()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        opened.context.close()
        assert opened.complaints == []
