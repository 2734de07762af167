"""The page of a comparison in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.comparison.small_comparison import compared
from tests.end_to_end.opened_page import PHONE, WIDE


def test_the_page_fits_every_screen_and_asks_for_nothing(browser: Any, tmp_path: Path):
    file = compared().save(tmp_path / "out") / "report.html"
    complaints: list[str] = []
    for size in (WIDE, PHONE):
        page = browser.new_page(viewport=size)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("request", lambda asked: complaints.append(asked.url))
        page.goto(file.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        answer = page.locator("h1")
        assert answer.inner_text().startswith("On average clicks became worse")
        assert answer.bounding_box()["y"] < 200
        page.close()
    assert complaints == [file.as_uri()] * 2


def test_a_dot_lies_on_its_interval_and_left_of_no_change(browser: Any, tmp_path: Path):
    page = browser.new_page(viewport=WIDE)
    page.goto((compared().save(tmp_path / "out") / "report.html").as_uri())
    row = page.locator(".dot-table tbody tr").first
    dot, line, zero = (
        row.locator(f".{name}").bounding_box() for name in ("dot", "whisker", "zero")
    )
    middle = dot["x"] + dot["width"] / 2
    assert line["x"] < middle < line["x"] + line["width"] < zero["x"]
    page.close()
