"""The code in the documents runs as it stands there."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from fairrec.metrics import METRICS

ROOT = Path(__file__).parents[1]
CODE = re.compile(r"```python\n(.*?)```", re.S)


def code_blocks() -> list[tuple[str, str]]:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return [(page.name, code) for page in pages for code in CODE.findall(page.read_text())]


@pytest.mark.parametrize(("page", "code"), code_blocks())
def test_code_in_documents_runs(page, code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    known = set(METRICS)
    try:
        exec(compile(code, page, "exec"), {})
    finally:
        for name in set(METRICS) - known:
            METRICS.remove(name)


def test_the_page_on_options_says_what_is_declared():
    made = runpy.run_path(str(ROOT / "docs" / "make_options.py"))
    assert made["PAGE"].read_text("utf-8") == made["page"](), "run python docs/make_options.py"


def test_links_between_documents_lead_somewhere():
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
