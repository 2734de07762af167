"""A page in a browser: what it shows, and everything it complains about or asks for."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

WIDE = {"width": 1280, "height": 900}
PHONE = {"width": 375, "height": 800}
AXIS_TEXT = (
    "[...document.querySelectorAll('#groups-0 .role-axis-label text')]"
    ".map(label => label.textContent).sort().join()"
)


def wait(page: Any, condition: str, seconds: float = 20) -> None:
    """Wait until an expression is true; the page's policy forbids Playwright's own way."""
    until = time.monotonic() + seconds
    while not page.evaluate(condition):
        assert time.monotonic() < until, condition
        page.wait_for_timeout(20)


def draw_everything(page: Any) -> None:
    """Draw the charts of a page, if it has any."""
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    wait(page, "[...document.querySelectorAll('.plot')].every(plot => plot.dataset.drawn)")


class Opened:
    """A page, and everything it complained about or asked for."""

    def __init__(self, browser: Any, file: Path, **context: Any) -> None:
        context = {"viewport": WIDE, "reduced_motion": "reduce", **context}
        self.context = browser.new_context(**context)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(file.as_uri())
        self.page.wait_for_selector("html[data-ready]")

    def draw_everything(self) -> None:
        draw_everything(self.page)

    def reload(self) -> None:
        self.page.reload()
        self.page.wait_for_selector("html[data-ready]")
        self.draw_everything()

    def forget(self) -> None:
        """No group is chosen, no row is filtered out, the screen is wide and light."""
        self.page.set_viewport_size(WIDE)
        self.page.emulate_media(color_scheme="light")
        self.page.keyboard.press("Escape")
        self.page.click(".filters [type=reset]")

    def wait(self, condition: str, seconds: float = 20) -> None:
        wait(self.page, condition, seconds)

    def axis(self) -> str:
        """The numbers on the axes of the first chart."""
        return self.page.evaluate(AXIS_TEXT)

    def rows(self, column: int) -> list[str]:
        """The shown texts of a column of the table."""
        return self.page.eval_on_selector_all(
            "#all tbody tr", f"rows => rows.map(row => row.cells[{column}].innerText)"
        )

    def sort(self, name: str) -> str:
        """Press the button of a column; how the column is sorted then."""
        self.page.locator("#all thead button", has_text=re.compile(f"^{name}$")).click()
        return self.page.locator(f"#all th:has(button:text-is('{name}'))").get_attribute(
            "aria-sort"
        )
