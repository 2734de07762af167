"""A browser, and the page that most of its tests open."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import fairrec
from tests.end_to_end.opened_page import Opened
from tests.worlds import ATTRIBUTES, random_world


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A real browser; the tests of the page are skipped where there is none."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no chromium here: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of an audit with one planted group."""
    users, predictions = random_world(2000, {"gender": "F", "age": "65+"}, effect=2.5, seed=1)
    result = fairrec.audit(
        predictions,
        users=users,
        by=list(ATTRIBUTES),
        metrics=["auc", "mrr@5"],
        statistics=fairrec.Statistics(permutations=199),
        min_support=10,
    )
    return result.save(tmp_path_factory.mktemp("audited")) / "report.html"


@pytest.fixture(scope="module")
def drawn(browser: Any, audited: Path) -> Iterator[Opened]:
    """The page with all its charts, as the tests before have left it."""
    opened = Opened(browser, audited)
    opened.draw_everything()
    yield opened
    opened.context.close()


@pytest.fixture
def opened(drawn: Opened, audited: Path) -> Iterator[Opened]:
    drawn.forget()
    yield drawn
    assert drawn.complaints == []
    assert {*drawn.requests} == {audited.as_uri()}
