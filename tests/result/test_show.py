"""A page in a notebook, or in a file of its own."""

from __future__ import annotations

import sys
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
    assert frame.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
    assert "<script" not in frame
