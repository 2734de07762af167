"""Notebooks of the site run as they stand there, in a smaller size where that takes long."""

from __future__ import annotations

import runpy
import tempfile
from pathlib import Path

import nbformat
import pytest

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[1] / "docs"
SMALLER = {
    "counterfactual": {"n_users": 600},
    "endpoint": {"n_users": 2000, "budgets": ["10%"]},
    "movielens": {"n_users": 500, "raw": ""},
}
SAYS = {
    "counterfactual": "so gender itself cannot change anything",
    "endpoint": "The service was asked about 200 of 2,000 users.",
    "first-verdict": "FAIL  ndcg@10: no group is worse by more than 0.05 | age=60+",
    "gate": "exit code 3",
    "items": "200 of 200 items are shown",
    "movielens": "synthetic movielens-1m: 500 users",
}
"""What a notebook is about, in the words it prints."""
made = runpy.run_path(str(DOCS / "make_notebooks.py"))


def outputs(notebook) -> list:
    return [one for cell in notebook.cells for one in cell.get("outputs", ())]


def printed(notebook) -> str:
    return "".join(one.text for one in outputs(notebook) if one.output_type == "stream")


def pictures(notebook) -> int:
    return sum("image/svg+xml" in one.get("data", ()) for one in outputs(notebook))


@pytest.mark.parametrize("file", made["NOTEBOOKS"], ids=lambda file: file.stem)
def test_a_notebook_runs_and_is_kept_with_what_it_showed(file, tmp_path, monkeypatch):
    monkeypatch.delenv("MOVIELENS", raising=False)
    ran = made["ran"](file, tmp_path, **SMALLER.get(file.stem, {}))
    assert SAYS[file.stem] in printed(ran)
    assert not [one for one in outputs(ran) if one.get("name") == "stderr"]
    kept = nbformat.read(file, as_version=4)
    assert pictures(kept) == pictures(ran) > 0
    assert all(cell.execution_count for cell in kept.cells if cell.cell_type == "code")


@pytest.mark.parametrize("file", made["NOTEBOOKS"], ids=lambda file: file.stem)
def test_a_kept_notebook_is_small_and_names_no_folder_of_a_machine(file):
    text = file.read_text("utf-8")
    assert len(text.encode()) < 100_000
    folders = ("/home/", "/Users/", tempfile.gettempdir(), str(DOCS.parent))
    assert not any(folder in text for folder in folders)
