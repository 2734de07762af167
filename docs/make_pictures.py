"""Draw the pictures of the documents: `python docs/make_pictures.py`."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from site_parts import write_demo_page

from fairrec.demo.demo import BY, run_demo
from fairrec.mitigation.mitigate import mitigate
from fairrec.report.answer import WIDTH, print_answer
from fairrec.report.view import build_view

IMAGES = Path(__file__).parent / "images"
RUN = Path(__file__).parents[1] / "bench-data/runs/movielens-1m-deepfm"
"""Trained by `make bench`, or by `fairrec-paper prepare` and `train` from MovieLens-1M."""
PAPERS_GROUPS = ("--min-support", "0.001")


def draw_demo() -> None:
    """The report of the demo as a terminal shows it."""
    with tempfile.TemporaryDirectory() as folder:
        result = run_demo(Path(folder), seed=0)
    with Path("/dev/null").open("w") as nowhere:
        console = Console(
            record=True, width=WIDTH, file=nowhere, force_terminal=True, highlight=False
        )
        print_answer(build_view(result.summary, result.group_table).answer, console)
        picture = console.export_svg(title="fairrec demo")
    # the fonts it names by address would be fetched from the network
    picture = re.sub(r"@font-face \{.*?\}", "", picture, flags=re.S)
    IMAGES.mkdir(exist_ok=True)
    (IMAGES / "demo.svg").write_text(picture)


def draw_report() -> None:
    """The first screen of a page, in light, in the dark and on a phone, in Chromium."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        write_demo_page(folder)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for file, width, height, scheme in (
            ("report.png", 1140, 760, "light"),
            ("report-dark.png", 1140, 760, "dark"),
            ("report-phone.png", 390, 844, "light"),
        ):
            page = browser.new_page(
                viewport={"width": width, "height": height}, color_scheme=scheme
            )
            page.goto((folder / "report.html").as_uri())
            page.wait_for_timeout(500)
            page.screenshot(path=IMAGES / file)
        browser.close()


def draw_mitigation() -> None:
    """The first screen of a mitigation: popularity, in the demo."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        run_demo(folder, seed=0, report=False)
        parts = ("predictions", "users", "items", "history")
        tables = {part: folder / f"{part}.parquet" for part in parts}
        mitigate(**tables, by=BY, metric="urp_abs@5").save(folder / "fixed")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1140, "height": 900})
        page.goto((folder / "fixed/report.html").as_uri())
        page.locator("header.top").screenshot(path=IMAGES / "mitigation.png")
        browser.close()


def draw_search() -> None:
    """Searchers on MovieLens-1M with DeepFM, ten seeds: what `fairrec-paper search-bench` draws."""
    paper = Path(sys.executable).with_name("fairrec-paper")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [paper, "search-bench", "--run", RUN, *PAPERS_GROUPS, "--out", folder], check=True
        )
        picture = (Path(folder) / "search.svg").read_text("utf-8")
    (IMAGES / "search.svg").write_text(picture, "utf-8")


if __name__ == "__main__":
    draw_demo()
    draw_report()
    draw_mitigation()
    if RUN.exists():
        draw_search()
    else:
        print(f"search.svg is left as it is: no run in {RUN}")
