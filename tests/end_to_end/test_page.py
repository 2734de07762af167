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
from fairrec.report.page.html import MOST_BYTES
from fairrec.report.words import group_label, number
from tests.builders import make_tables, one_each, two_groups
from tests.comparison.small_comparison import compared
from tests.counterfactuals.flipped_world import blind, direct, flipped
from tests.end_to_end.command_line import AUDIT, run_here, write_tables
from tests.end_to_end.made_results import mitigated, searched
from tests.end_to_end.opened_page import AXIS_TEXT, PHONE, WIDE, Opened


def test_the_page_draws_every_chart_without_complaint_and_without_the_network(opened: Opened):
    page = opened.page
    assert (
        page.locator("h1")
        .inner_text()
        .startswith("gender=F, age=65+ is served worse: ranking quality 0.")
    )
    assert page.locator("#chart-0 .mark-symbol path").count() >= 171
    # eight combinations, and the outline of the one that is a finding
    assert page.locator("#pair-plot .mark-rect path").count() == 8 + 1
    assert page.locator("[data-chart=correlation] .mark-rect path").count() == 4
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
    differences = [float(text.replace("−", "-")) for text in opened.rows(5)]
    # by all their digits, of which as many are shown as their intervals need
    assert differences == pytest.approx(sorted(differences), abs=5e-4)
    assert opened.page.locator("#all th[aria-sort]").count() == 1


MEMBERS = ["constructor", "toString", "__proto__", "hasOwnProperty", "valueOf", "prototype"]


def test_names_that_every_object_of_the_browser_has_are_drawn(browser: Any, tmp_path: Path):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (3, 300))
    users = pl.DataFrame(
        {
            "user_id": np.arange(300),
            **{MEMBERS[at]: [MEMBERS[one] for one in codes[at]] for at in range(3)},
        }
    )
    values = pl.DataFrame(
        {
            "user_id": np.arange(300),
            **{name: rng.normal(size=300) - 2 * (codes[0] == 2) for name in MEMBERS[3:]},
        }
    )
    result = fairrec.audit(
        values=values,
        users=users,
        by=MEMBERS[:3],
        metrics=MEMBERS[3:],
        statistics=fairrec.Statistics(permutations=99),
    )
    opened = Opened(browser, result.save(tmp_path / "members") / "report.html")
    opened.draw_everything()
    assert opened.complaints == []
    for at, name in enumerate(MEMBERS[3:]):
        titles = opened.page.locator(f"#chart-{at} .role-axis-title text").all_text_contents()
        assert name in [title.strip("\u2060") for title in titles]
    named = opened.page.locator("#pair-plot .role-axis-label text").all_text_contents()
    assert {name.strip("\u2060") for name in named} == {*MEMBERS[:3]}


def test_tiny_numbers_are_sorted_and_shown_in_scripts_as_everywhere(browser: Any, tmp_path: Path):
    names = [f"City {at}" for at in range(6)]
    means = np.array([-2e-7, 3e-9, 1.5e-7, 0.0, -4e-9, 9e-8])
    noise = np.resize([1e-8, -1e-8], 600)
    values = pl.DataFrame(
        {
            "user_id": np.arange(600),
            "city": np.repeat(names, 100),
            "m": np.repeat(means, 100) + noise,
        }
    )
    result = fairrec.audit(
        values=values, by="city", statistics=fairrec.Statistics(permutations=199)
    )
    opened = Opened(browser, result.save(tmp_path / "tiny") / "report.html")
    opened.sort("value")
    cities = [re.search(r"City \d", row)[0] for row in opened.rows(1)]
    assert cities == [names[at] for at in np.argsort(means)]
    opened.page.locator("#all tbody button").first.click()
    shown = opened.page.locator("#chosen-values").inner_text()
    assert shown.startswith("m −2.00e−7 (−2.48e−7)")
    assert "0 to 0" not in opened.page.locator("body").inner_text()
    assert opened.complaints == []
    opened.context.close()


def test_columns_can_be_sorted_from_the_keyboard(opened: Opened):
    page = opened.page
    page.locator("#filter-findings").focus()
    for _ in range(8):  # Clear, CSV, Print, all rows, past the table, the region, metric, group
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.innerText") == "group"
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("Enter")
    assert page.locator("#all th:nth-child(2)").get_attribute("aria-sort") == "ascending"
    page.keyboard.press("Space")
    assert page.locator("#all th:nth-child(2)").get_attribute("aria-sort") == "descending"


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


def test_hovering_a_point_shows_its_group_as_text(opened: Opened):
    page = opened.page
    point = page.locator("#chart-0 .mark-symbol path").last
    point.scroll_into_view_if_needed()
    page.wait_for_timeout(100)  # scrolling takes a tip away
    point.hover()
    page.wait_for_selector("#tip:not([hidden])")
    shown = page.locator("#tip").inner_text()
    assert "gender=" in shown or "age=" in shown or "job=" in shown
    assert re.search(r"users\n[\d,]+\n", shown)


def wait_for_rings(opened: Opened, n_rings: int) -> None:
    """Wait until so many groups are ringed in the chart of each metric."""
    for at in (0, 1):
        ring = f"#chart-{at} .mark-symbol path[stroke='#b07d00']"
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
    page.locator("#chart-1 .mark-symbol path[d*='L']").first.click(force=True)
    assert page.locator("#chosen-label").inner_text() != label
    wait_for_rings(opened, 1)


def test_neighbours_of_a_finding_fold_away_without_choosing_it(opened: Opened):
    page = opened.page
    opened.reload()
    rows = page.locator(".finding .neighbours").first.locator("tbody tr")
    assert rows.count() == 4
    assert rows.first.inner_text().split("\t") == ["gender=F, age=65+", "61", "0.153", "0.0239"]
    page.locator(".neighbours summary").first.click()
    assert rows.first.is_hidden()
    assert page.locator("#chosen").is_hidden()


def test_charts_zoom_by_button_and_by_wheel_with_a_key(opened: Opened):
    page = opened.page
    before = opened.axis()
    page.click("#chart-0 [data-zoom=in]")
    opened.wait(f"{AXIS_TEXT} !== {before!r}")
    page.click("#chart-0 [data-zoom=reset]")
    opened.wait(f"{AXIS_TEXT} === {before!r}")
    page.locator("#chart-0 .plot").hover()
    top = page.evaluate("scrollY")
    page.keyboard.down("Control")
    page.mouse.wheel(0, -300)
    opened.wait(f"{AXIS_TEXT} !== {before!r}")
    page.keyboard.up("Control")
    assert page.evaluate("scrollY") == top


def test_pairs_are_chosen_by_attribute_and_metric(opened: Opened):
    page = opened.page
    # those of the strongest finding first
    assert page.eval_on_selector("#pair", "one => one.selectedOptions[0].text") == "gender and age"
    worst, best = (page.locator(f"#ramp-{end}").inner_text() for end in ("low", "high"))
    minus = "\N{MINUS SIGN}"
    assert re.fullmatch(rf"worse {minus}[\d.]+", worst)
    assert best == f"+{worst.removeprefix(f'worse {minus}')} better"
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


POOR_CONTRAST = """() => {
  const parse = (text) => {
    const numbers = (text.match(/[\\d.]+/g) || []).map(Number);
    const [r, g, b, a = 1] = text.startsWith('color(srgb')
      ? [...numbers.slice(0, 3).map(n => n * 255), ...numbers.slice(3)] : numbers;
    return [r, g, b, a];
  };
  const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3]));
  const light = (colour) => {
    const [r, g, b] = colour.slice(0, 3).map(n => n / 255)
      .map(n => n <= 0.04045 ? n / 12.92 : ((n + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const ground = (part) => {
    const colour = part ? parse(getComputedStyle(part).backgroundColor) : [255, 255, 255, 1];
    return colour[3] === 1 ? colour : over(colour, ground(part.parentElement));
  };
  const poor = [];
  const seen = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const part = node.parentElement;
    // the numbers on coloured squares are measured by themselves
    if (!node.textContent.trim() || part.closest('script, style, noscript, option')) continue;
    if (part.closest(':is(#pair-plot, [data-chart=correlation]) .mark-text.role-mark')) continue;
    const style = getComputedStyle(part);
    const isDrawn = part instanceof SVGElement;
    const below = ground(isDrawn ? part.closest('.plot') : part);
    const ink = over(parse(isDrawn ? style.fill : style.color), below);
    const [a, b] = [light(ink), light(below)];
    seen.add(part);
    const ratio = Math.max(a, b) / Math.min(a, b);
    if (ratio < 4.5) poor.push([ratio.toFixed(2), part.tagName, node.textContent.slice(0, 40)]);
  }
  return { poor, n: seen.size };
}"""


def test_text_stands_out_in_light_and_dark(opened: Opened):
    opened.page.locator(".finding button").first.click()
    axis = "getComputedStyle(document.querySelector('#chart-0 .role-axis-label text')).fill"
    for scheme in ("dark", "light"):
        # a change of scheme while the page is open draws the charts again
        before = opened.page.evaluate(axis)
        opened.page.emulate_media(color_scheme=scheme)
        opened.wait(f"{axis} !== '{before}'")
        opened.draw_everything()
        found = opened.page.evaluate(POOR_CONTRAST)
        assert found["poor"] == []
        assert found["n"] > 500


def test_a_searched_audit_shows_its_history(browser: Any, tmp_path: Path):
    opened = Opened(browser, searched().save(tmp_path) / "report.html")
    opened.draw_everything()
    assert "The searcher adaptive scored" in opened.page.locator("#search").inner_text()
    assert opened.page.locator("[data-chart=history-0] .mark-line path").count() == 1
    assert opened.complaints == []
    opened.context.close()


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
    page.locator("#chart-0 .mark-symbol path").last.hover(force=True)
    for at in range(page.locator("#pair option").count()):
        page.select_option("#pair", index=at)
    page.fill("#find", HOSTILE[0])
    assert len(opened.rows(1)) >= 2
    assert page.locator("main img").count() == 0
    assert page.locator("script").count() == 4
    for viewport in (WIDE, PHONE):
        page.set_viewport_size(viewport)
        opened.reload()
        page.click("#more")
        assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
        assert page.evaluate("window.hacked") is None
    assert opened.complaints == []
    assert {*opened.requests} == {page_file.as_uri()}
    opened.context.close()


def test_very_many_groups_stay_under_the_limit_and_open(browser: Any, tmp_path: Path):
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
    assert re.search(r"[\d,]+ of [\d,]+ rows are shown", note)
    link = opened.page.locator("#table .note a").get_attribute("href")
    assert (tmp_path / link).exists()
    n_groups = result.groups("mrr").height
    assert f"All {n_groups:,} groups are drawn" in opened.page.locator("#chart-0").inner_text()
    # as hexagons, with a legend; only what is marked is a point
    assert opened.page.locator("#chart-0 .mark-line.role-mark path").count() > 5
    assert opened.page.locator("#chart-0 .role-legend-label text").count() >= 2
    n_points = opened.page.locator("#chart-0 .mark-symbol.role-mark path").count()
    assert n_points < 100
    assert opened.complaints == []
    opened.context.close()


def test_the_page_of_a_folder_with_an_odd_name_links_to_its_groups(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    write_tables(tmp_path)
    folder = "a #1 100% <b>"
    run_here(*AUDIT, "--by", "gender", "--out", folder, "--no-report")
    assert not (tmp_path / folder / "report.html").exists()
    ran = run_here("report", folder, "--out", "elsewhere.html")
    assert ran.code == 0
    opened = Opened(browser, tmp_path / "elsewhere.html")
    target = opened.page.evaluate("document.querySelector('#table .note a').href")
    assert target == (tmp_path / folder / "groups.parquet").as_uri()
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
        assert page.locator("#mitigation .trade .plot svg").count() == 2
        slopes = page.locator("#mitigation .slopes .plot svg")
        assert slopes.count() == len(result.summary.effects)
        before = result.effect.chosen.before
        assert number(before) in slopes.first.text_content()
        assert page.locator("#mitigation .strip svg path").count() > 0
        assert hostile in page.locator("#mitigation").text_content()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        opened.context.close()
        assert opened.complaints == []


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_the_page_of_a_comparison_fits_the_screen_and_asks_for_nothing(
    browser: Any, tmp_path: Path, size: dict[str, int]
):
    file = compared().save(tmp_path / "out") / "report.html"
    page = browser.new_page(viewport=size)
    told: list[str] = []
    page.on("console", lambda message: told.append(message.text))
    page.on("request", lambda asked: told.append(asked.url))
    page.goto(file.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    answer = page.locator("h1")
    assert answer.inner_text().startswith("On average clicks became worse")
    assert answer.bounding_box()["y"] < 200
    assert told == [file.as_uri()]
    if size == WIDE:
        # a dot lies on its interval, and left of no change
        row = page.locator(".dot-table tbody tr").first
        dot, line, zero = (
            row.locator(f".{name}").bounding_box() for name in ("dot", "whisker", "zero")
        )
        middle = dot["x"] + dot["width"] / 2
        assert line["x"] < middle < line["x"] + line["width"] < zero["x"]
    page.close()


@pytest.mark.parametrize("model", [direct, blind])
def test_every_column_of_a_counterfactual_is_on_the_screen(
    browser: Any, tmp_path: Path, model: Any
):
    found = flipped(model, metrics="changed@3,affected@3,rbo@3,tau,mrr@3,ndcg@3", permutations=0)
    size = {"width": 1200, "height": 900}
    opened = Opened(browser, found.save(tmp_path / "out") / "report.html", viewport=size)
    tables = opened.page.locator("#changes .scroll").all()
    assert len(tables) == 2
    for table in tables:
        assert table.evaluate("one => one.scrollWidth - one.clientWidth") == 0
    # an arrow is not torn apart, and a change stands on one line
    cell = opened.page.get_by_role("cell", name="gender=F → gender=M").bounding_box()
    assert cell["height"] < 60
    opened.context.close()
