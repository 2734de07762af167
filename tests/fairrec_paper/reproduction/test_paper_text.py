"""What the paper's tables say of its text, recomputed by hand and as the documentation has it."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from fairrec_paper.reproduction.comparison import published_gaps

DOCS = Path(__file__).parents[3] / "docs"
said = runpy.run_path(str(DOCS / "paper_text.py"))["said"]


@pytest.fixture(scope="module")
def tables() -> dict[str, str]:
    return {row.claim: row.tables for row in said()}


def test_claims_that_the_tables_contradict(tables):
    assert tables["largest gap in limited time: FairRec, Themis, TestSGD"] == "75.0%, 22.5%, 6.2%"
    assert tables["mean accuracy of TestSGD, larger and smaller theta"] == "38.8%, 67.5%"
    assert tables["a limited search finds no more than an unlimited one"] == (
        "11 of 320 cells are above"
    )
    # 0.1786 to 0.3208 and 0.0245 to 0.0172
    mrr, urp = 100 * (0.3208 / 0.1786 - 1), 100 * (0.0172 / 0.0245 - 1)
    assert tables["MRR after mitigation, MovieLens, Wide&Deep"] == f"{mrr:+.1f}%" == "+79.6%"
    assert tables["URP after mitigation, Amazon, DeepFM"] == f"{urp:+.1f}%" == "-29.8%"


def test_mean_accuracy_is_that_of_eighty_cells(tables):
    gaps = published_gaps("table2")
    cells = {
        (row["dataset"], row["model"], row["metric"], row["method"]): row["published"]
        for row in gaps.iter_rows(named=True)
    }
    shares = [
        gap / cells[(*case, "themis")]
        for (*case, method), gap in cells.items()
        if method == "fairrec"
    ]
    assert len(shares) == 80
    assert tables["mean accuracy of FairRec"] == f"{100 * sum(shares) / 80:.1f}%"


def test_documentation_has_this_table():
    text = (DOCS / "evidence" / "deviations.md").read_text(encoding="utf-8")
    for row in said():
        assert f"| {row.claim} | {row.text} | {row.tables} |" in text
