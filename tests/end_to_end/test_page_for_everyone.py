"""The page by finger, on paper, by keyboard, without scripts, as CSV, and looked through by axe."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.end_to_end.made_results import mitigated, searched
from tests.end_to_end.opened_page import Opened, draw_everything

KINDS = ("audit", "search", "mitigation")
AXE = sorted(Path(__file__).parents[2].glob(".axe/axe-*.min.js"))


@pytest.fixture(scope="module")
def page_of(audited: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of each kind."""
    folder = tmp_path_factory.mktemp("pages")
    return {
        "audit": audited,
        "search": searched().save(folder / "search") / "report.html",
        "mitigation": mitigated().save(folder / "mitigation") / "report.html",
    }


@pytest.fixture
def wide(browser: Any, audited: Path) -> Iterator[Opened]:
    opened = Opened(browser, audited, accept_downloads=True)
    opened.draw_everything()
    yield opened
    assert opened.complaints == []
    assert all(url == audited.as_uri() or url.startswith("blob:") for url in opened.requests)
    opened.context.close()


# ---- by finger ----


# ---- on paper ----

LIGHTNESS = """selector => {
  const style = getComputedStyle(document.querySelector(selector));
  const text = selector.includes('text') ? style.fill : style.backgroundColor;
  return Math.max(...text.match(/\\d+/g).slice(0, 3).map(Number));
}"""


def test_paper_is_light_and_wide_also_from_a_dark_screen(browser: Any, audited: Path):
    opened = Opened(browser, audited, color_scheme="dark")
    opened.draw_everything()
    page = opened.page
    label = "#groups-0 .role-axis-label text"
    assert page.evaluate(LIGHTNESS, ".card") < 64
    assert page.evaluate(LIGHTNESS, label) > 150
    page.set_viewport_size({"width": 700, "height": 900})
    page.emulate_media(media="print", color_scheme="dark")
    for part in ("body", ".card", "#all th"):
        assert page.evaluate(LIGHTNESS, part) > 230, part
    assert page.evaluate(LIGHTNESS, label) < 100
    assert (
        page.evaluate(
            "[...document.querySelectorAll('body *')].filter(part => part.offsetWidth > 1 "
            "&& part.getBoundingClientRect().right > 701).map(part => part.outerHTML.slice(0, 80))"
        )
        == []
    )
    assert page.locator("main").bounding_box()["width"] == 700
    assert not page.locator("nav").is_visible()
    assert page.locator("h1").is_visible()
    opened.context.close()


# ---- by keyboard ----


def test_the_table_is_passed_with_one_key_and_its_rows_stand_for_points(wide: Opened):
    page = wide.page
    page.locator("#print-all").focus()
    page.keyboard.press("Tab")
    skip = page.locator(".skip.here")
    assert page.evaluate("document.activeElement.textContent") == "Skip the table"
    assert skip.bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "more"
    page.locator("#all tbody button").nth(3).focus()
    page.keyboard.press("Enter")
    assert page.locator("#chosen").is_visible()


# ---- as CSV ----


def read_download(opened: Opened) -> list[dict[str, str]]:
    with opened.page.expect_download() as waiting:
        opened.page.locator("[data-do=csv]").last.click()
    assert waiting.value.suggested_filename == "fairrec-groups.csv"
    raw = Path(waiting.value.path()).read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf")
    return [*csv.DictReader(io.StringIO(raw.decode("utf-8-sig"), newline=""))]


def test_the_rows_that_match_are_downloaded_as_csv(wide: Opened, audited: Path):
    assert len(read_download(wide)) == 342
    wide.page.check("#filter-findings")
    row, *_ = rows = read_download(wide)
    assert len(rows) == 2
    assert row["group"] == "gender=F, age=65+"
    assert row["marked as"] == "finding"
    own = pl.read_parquet(audited.with_name("groups.parquet")).row(
        by_predicate=(pl.col("metric") == row["metric"])
        & (pl.col("depth") == 2)
        & (pl.col("gender") == "F")
        & (pl.col("age") == "65+"),
        named=True,
    )
    at_once = "95% interval, all at once"
    for name, column in (
        *(("users", "support"), ("value", "value"), ("difference", "difference")),
        *((f"{at_once}, low", "simultaneous_low"), (f"{at_once}, high", "simultaneous_high")),
        ("p adjusted", "p_adjusted"),
    ):
        assert re.fullmatch(r"-?\d[\d.e-]*", row[name]), name
        assert float(row[name]) == pytest.approx(own[column], rel=1e-8), name


# ---- axe ----


@pytest.mark.skipif(not AXE, reason="no axe-core here: python3 .ci/fetch_axe.py")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", KINDS)
def test_axe_reports_nothing(browser: Any, page_of: dict[str, Path], kind: str, scheme: str):
    context = browser.new_context(color_scheme=scheme, reduced_motion="reduce")
    page = context.new_page()
    page.goto(page_of[kind].as_uri())
    draw_everything(page)
    page.evaluate(AXE[-1].read_text("utf-8"))
    look_through(page)
    context.close()


def look_through(page: Any) -> None:
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    assert [
        (one["id"], one["help"], [node["html"][:120] for node in one["nodes"][:4]])
        for one in found["violations"]
    ] == []
    assert len(found["passes"]) > 10
