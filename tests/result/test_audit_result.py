"""A result in Python: its schema, verdict, representation, and its page in a notebook."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import polars as pl
import pytest
from pydantic import ValidationError

from fairrec.auditing.options import NOT_PLANNED
from fairrec.core.audit_options import AuditOptions
from fairrec.core.options import list_options
from fairrec.result.folder import load_groups, load_saved
from fairrec.result.parts import Part
from fairrec.result.schema import AuditSummary
from fairrec.result.summary import result_options
from tests.builders import audit, make_tables, two_groups

TABLES = make_tables()
RESULT = audit(TABLES.predictions, TABLES.users, "gender,age:20", metrics="auc,mrr@5")


def parts(kind: type[Part] = Part) -> list[type[Part]]:
    return [one for child in kind.__subclasses__() for one in (child, *parts(child))]


def test_what_the_schema_does_not_know_is_refused():
    written = json.loads(RESULT.to_json())
    for odd in (
        {"schema_version": "9"},
        {"verdict": "fair"},
        {"depth": "deep"},
    ):
        with pytest.raises(ValidationError):
            AuditSummary.model_validate({**written, **odd})
    for name in ("metrics", "coverage", "warnings"):
        with pytest.raises(ValidationError, match="Field required"):
            AuditSummary.model_validate({k: v for k, v in written.items() if k != name})


def test_every_option_that_changes_what_is_found_is_told():
    """What is not planned changes no number, and `top` is how many groups are named."""
    told = {*result_options(RESULT.summary)} - {"relevant", "gain", "missing_lists", "side", "unit"}
    assert told == {*list_options(AuditOptions)} - {
        *NOT_PLANNED,
        "top",
    }


def test_a_saved_result_is_read_again_and_other_files_stay(tmp_path: Path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").write_text("mine")
    result = audit(*two_groups(), by="group")
    for _ in range(2):
        result.save(tmp_path / "out")
        assert load_saved(tmp_path / "out")[0] == result.summary
        assert load_groups(tmp_path / "out", load_saved(tmp_path / "out")[1]).equals(
            result.group_table
        )
        per_user = pl.read_parquet(tmp_path / "out" / "per_user.parquet")
        assert per_user.equals(result.per_user)
        assert sorted(file.name for file in (tmp_path / "out").iterdir()) == [
            *(
                "groups.parquet",
                "notes.txt",
                "per_user.parquet",
                "report.html",
                "result.json",
                "run.json",
            )
        ]


def test_a_verdict_has_the_outcome_that_matters_most_and_each_metric():
    """Even users have MRR 1 and odd ones 1/2; both have a list, so coverage is 1 for all."""
    result = audit(
        *two_groups(80), by="group", metrics="mrr@2,coverage@2", tolerance="0.1", permutations=199
    )
    verdict = result.verdict
    assert verdict.outcome == "worse beyond tolerance"
    assert verdict.metrics["mrr@2"].n_worse_beyond_tolerance == 1
    assert verdict.metrics["mrr@2"].outcome == "worse beyond tolerance"
    assert verdict.metrics["coverage@2"].outcome != "worse beyond tolerance"
    assert [*verdict.metrics] == [*result.metrics]
    first, second, _ = repr(verdict).split("\n")
    assert first == "worse beyond tolerance"
    assert second == (
        "  mrr@2: worse beyond tolerance (groups: 1 worse beyond tolerance, 1 within tolerance; "
        "1 of these better)"
    )


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
