"""Draw the pictures of the documents: `python docs/make_pictures.py`."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console

from fairrec.demo import run_demo
from fairrec.report.text import print_text
from fairrec.report.view import build_view

IMAGES = Path(__file__).parent / "images"
RUN = Path(__file__).parents[1] / "bench-data/runs/movielens-1m-deepfm"
"""Trained by `make bench`, or by `fairrec prepare` and `fairrec train` from MovieLens-1M."""


def draw_demo() -> None:
    """The report of the demo as a terminal shows it."""
    with tempfile.TemporaryDirectory() as folder:
        result = run_demo(Path(folder), seed=0)
    with Path("/dev/null").open("w") as nowhere:
        console = Console(
            record=True, width=132, file=nowhere, force_terminal=True, highlight=False
        )
        print_text(build_view(result.summary), console)
        picture = console.export_svg(title="fairrec demo")
    # the fonts it names by address would be fetched from the network
    picture = re.sub(r"@font-face \{.*?\}", "", picture, flags=re.S)
    IMAGES.mkdir(exist_ok=True)
    (IMAGES / "demo.svg").write_text(picture)


def draw_report() -> None:
    """The top of the demo's page, and the first charts, in Chromium."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        run_demo(Path(folder), seed=0)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1100, "height": 1560})
        page.goto((Path(folder) / "audit/report.html").as_uri())
        # what follows the first row of cards would keep the charts out of the picture
        page.add_style_tag(content="article.card:nth-of-type(n+4) { display: none }")
        page.wait_for_selector("#chart-0 .plot[data-drawn] svg")
        page.wait_for_timeout(500)
        page.screenshot(path=IMAGES / "report.png")
        browser.close()


def draw_search() -> None:
    """Searchers on MovieLens-1M with DeepFM, ten seeds: what `fairrec search-bench` draws."""
    fairrec = Path(sys.executable).with_name("fairrec")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([fairrec, "search-bench", "--run", RUN, "--out", folder], check=True)
        picture = (Path(folder) / "search.svg").read_text("utf-8")
    (IMAGES / "search.svg").write_text(picture, "utf-8")


if __name__ == "__main__":
    draw_demo()
    draw_report()
    if RUN.exists():
        draw_search()
    else:
        print(f"search.svg is left as it is: no run in {RUN}")
