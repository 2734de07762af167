"""The page of a result with very many groups: how soon it is written, and how soon it opens."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from statistics import median

from benchmarks import data
from benchmarks.measure import Row, call_in_child, in_seconds

N_USERS = 400_000
RUNS = 5
TALL = 4000
"""Pixels of the window: more than any screen has, so that charts are in view."""
METRICS = "auc,mrr@5,ndcg@5,hit@2,recall@3"


def run(shrink: int) -> Iterator[Row]:
    """Each in a process of its own; the script that draws is kept on disk from the first time."""
    home = str(data.folder(shrink) / "report")
    _, n_groups = call_in_child(make, home, N_USERS // shrink)
    call_in_child(write, home)
    written = [call_in_child(write, home)[1] for _ in range(RUNS)]
    seconds = median(one["seconds"] for one in written)
    what = f"write the page of {n_groups:,} groups x {len(METRICS.split(','))} metrics"
    yield Row("report", what, in_seconds(seconds), "3 s", seconds <= 3)
    size = written[0]["bytes"]
    yield Row("report", "its size", f"{size / 1e6:.2f} MB", "2 MB", size <= 2_000_000)
    _, opened = call_in_child(open_in_browser, home)
    if opened is None:
        yield Row("report", "open it", "no chromium here")
        return
    text, first, last = opened
    yield Row("report", "open it in Chromium: text is seen", in_seconds(text))
    yield Row("report", "the first chart is seen", in_seconds(first), "1.5 s", first <= 1.5)
    yield Row("report", f"all charts of the first {TALL:,} pixels", in_seconds(last))


def make(home: str, n_users: int) -> int:
    """Write an audit of users in 60 x 50 x 20 combinations; the number of its groups."""
    import numpy as np
    import polars as pl

    import fairrec

    rng = np.random.default_rng(0)
    users = pl.DataFrame(
        {
            "user_id": np.arange(n_users),
            "country": [f"country {i}" for i in rng.integers(0, 60, n_users)],
            "occupation": [f"occupation {i}" for i in rng.integers(0, 50, n_users)],
            "age": rng.integers(10, 30, n_users),
        }
    )
    labels = np.zeros((n_users, 4), dtype=np.int8)
    labels[np.arange(n_users), rng.integers(0, 4, n_users)] = 1
    predictions = pl.DataFrame(
        {
            "user_id": np.arange(n_users),
            "item_id": np.tile(np.arange(4), (n_users, 1)),
            "score": np.tile([4.0, 3.0, 2.0, 1.0], (n_users, 1)),
            "label": labels,
        }
    )
    by = ["country", "occupation", "age"]
    result = fairrec.audit(
        predictions,
        users=users,
        by=by,
        metrics=METRICS,
        statistics=fairrec.Statistics(permutations=19),
        min_support=3,
    )
    result.save(home, report=False)
    return int(result.groups("auc").height)


def write(home: str) -> dict[str, float]:
    """Write the page from the saved files, with all that has to be loaded for it."""
    from pathlib import Path

    started = time.perf_counter()
    from fairrec.report.page.audit import page_html
    from fairrec.result.folder import load_groups, load_saved

    file = Path(home) / "report.html"
    summary, id = load_saved(home)
    file.write_text(page_html(summary, load_groups(home, id)), encoding="utf-8")
    return {"seconds": time.perf_counter() - started, "bytes": file.stat().st_size}


# a chart is seen when the frame after it was drawn has been painted
CLOCK = """
window.chartsSeen = [];
new MutationObserver((changes) => {
  for (const { target } of changes) {
    if (!target.matches(".plot[data-drawn]")) continue;
    requestAnimationFrame(() => setTimeout(() => window.chartsSeen.push(performance.now())));
  }
}).observe(document, { subtree: true, attributeFilter: ["data-drawn"] });
"""


def open_in_browser(home: str) -> tuple[float, float, float] | None:
    """Seconds until text, the first chart and the last one in view are seen: medians of some."""
    from pathlib import Path

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        return None
    from playwright.sync_api import sync_playwright

    times = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for _ in range(RUNS):
            page = browser.new_page(viewport={"width": 1280, "height": TALL})
            page.add_init_script(CLOCK)
            page.goto((Path(home) / "report.html").absolute().as_uri())
            page.wait_for_selector(".plot[data-drawn] svg")
            page.wait_for_timeout(3000)
            text = page.evaluate(
                "performance.getEntriesByName('first-contentful-paint')[0].startTime"
            )
            charts = page.evaluate("window.chartsSeen")
            times.append((text, charts[0], charts[-1]))
            page.close()
        browser.close()
    text, first, last = (median(column) / 1000 for column in zip(*times, strict=True))
    return text, first, last
