"""A page in a notebook, or in a file of its own."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from tests.builders import audit, make_tables, two_groups


def test_show_writes_a_page_of_its_own_outside_a_notebook():
    tables = make_tables()
    result = audit(tables.predictions, tables.users, by="gender")
    file = result.show()
    assert file is not None
    page = file.read_text("utf-8")
    file.unlink()
    file.parent.rmdir()
    assert page.startswith("<!DOCTYPE html>")
    # the table of groups was not written, so there is nothing to link to
    assert 'href="groups.parquet"' not in page


def test_show_displays_the_page_in_a_notebook(monkeypatch: pytest.MonkeyPatch):
    shown: list[str] = []
    ipython, display = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=object())  # type: ignore[attr-defined]
    display.HTML = lambda text: text  # type: ignore[attr-defined]
    display.display = shown.append  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    assert audit(*two_groups(), by="group").show() is None
    (frame,) = shown
    assert frame.startswith('<div><iframe srcdoc="&lt;!DOCTYPE html&gt;')
    assert "<script" not in frame


NOTEBOOK = """
import warnings
warnings.simplefilter("always")
from tests.builders import audit, two_groups
result = audit(*two_groups(40), by="group", permutations=99, title="<script>alert(1)</script>")
result
---
assert result.show() is None
---
print(repr(result))
result.findings()
"""


@pytest.mark.slow
def test_a_real_kernel_shows_a_result_without_warnings(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parents[2]), *sys.path]))
    with warnings.catch_warnings():
        # what the client says of itself is not ours
        warnings.simplefilter("ignore")
        from nbclient import NotebookClient
        from nbformat.v4 import new_code_cell, new_notebook

        cells = [new_code_cell(cell.strip()) for cell in NOTEBOOK.split("---")]
        notebook = new_notebook(cells=cells)
        NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    (card,), (shown,), (printed, found) = (cell.outputs for cell in notebook.cells)
    assert "<script" not in card.data["text/html"]
    assert "group=odd" in card.data["text/html"]
    assert card.data["text/plain"].startswith("<script>alert(1)</script>: audit of 40 users")
    assert shown.data["text/html"].startswith("<div><iframe srcdoc=")
    assert printed.name == "stdout"
    assert "odd" in found.data["text/plain"]
