"""A result in Python: its schema, verdict, representation, and its page in a notebook."""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path
from types import ModuleType, SimpleNamespace

import jsonschema
import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

import fairrec
from fairrec.auditing.options import NOT_PLANNED
from fairrec.core.audit_options import AuditOptions
from fairrec.core.options import declared
from fairrec.report.audit_result import AuditVerdict
from fairrec.result.folder import load_groups, load_saved, load_summary
from fairrec.result.parts import Part
from fairrec.result.schema import AuditSummary
from fairrec.result.summary import result_options
from tests.builders import audit, make_tables, two_groups

TABLES = make_tables()
RESULT = audit(TABLES.predictions, TABLES.users, "gender,age:20", metrics="auc,pooled_auc")


def parts(kind: type[Part] = Part) -> list[type[Part]]:
    return [one for child in kind.__subclasses__() for one in (child, *parts(child))]


def test_a_summary_is_written_and_read_again():
    text = RESULT.to_json()
    assert AuditSummary.model_validate_json(text) == RESULT.summary
    schema = AuditSummary.model_json_schema()
    jsonschema.validators.validator_for(schema)(schema).validate(json.loads(text))


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


def test_no_part_of_a_result_can_be_changed_or_added_to():
    assert len(parts()) > 10
    for part in parts():
        assert part.model_config["frozen"]
        assert part.model_config["extra"] == "forbid"
    with pytest.raises(ValidationError, match="frozen"):
        RESULT.summary.seed = 1


def test_every_option_that_changes_what_is_found_is_told():
    """What is not planned changes no number, and `top` is how many groups are named."""
    told = {*result_options(RESULT.summary)} - {"relevant", "gain", "missing_lists", "side", "unit"}
    assert told == {*declared(AuditOptions)} - {
        *NOT_PLANNED,
        "top",
    }


def assert_same(one, other) -> None:
    assert one.equals(other) if isinstance(one, pl.DataFrame) else one == other


def test_a_saved_result_is_read_again_and_other_files_stay(tmp_path: Path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").write_text("mine")
    result = audit(*two_groups(), by="group")
    for _ in range(2):
        result.save(tmp_path / "out")
        assert load_summary(tmp_path / "out") == result.summary
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


def test_repr_is_a_few_lines_of_plain_text():
    tables = make_tables()
    names = ["auc", *(f"mrr@{k}" for k in range(1, 13))]
    result = audit(tables.predictions, tables.users, "gender", metrics=names, title="a\x1b[31m\nb")
    first, *lines = repr(result).split("\n")
    assert first.startswith(r"a\x1b[31m\nb: audit of 48 users by gender")
    mean = result.metric("auc").mean
    assert lines[0] == f"  auc: mean {mean:.4g}, findings: 0 of 3 groups"
    untested = audit(tables.predictions, tables.users, "gender", metrics="auc", permutations=0)
    assert repr(untested).endswith(f"auc: mean {mean:.4g}, 3 groups, not tested")
    assert len(lines) == 11 and lines[-1] == "  and 3 more metrics"
    assert all(line.isprintable() for line in lines)


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
    first, told, _ = repr(verdict).split("\n")
    assert first == "worse beyond tolerance"
    assert "mrr@2: worse beyond tolerance (groups beyond tolerance: 1, extent unclear: 0" in told


@pytest.mark.parametrize(
    ("columns", "outcome"),
    [
        (["stars", "hits"], "within tolerance"),
        (["stars"], "differs beyond tolerance"),
        (["hits"], "within tolerance"),
    ],
)
def test_a_metric_without_a_better_end_differs_and_never_decides_beside_others(columns, outcome):
    """Half of the users have 0 stars and half have 1; all have about as many hits."""
    group = np.arange(400) % 2
    values = {"stars": group * 1.0, "hits": np.tile([0.0, 0.0, 1.0, 1.0], 100)}
    table = pl.DataFrame({"user_id": range(400), "group": group.astype(str)}).with_columns(
        **{name: pl.Series(values[name]) for name in columns}
    )
    result = fairrec.audit(
        values=table,
        by="group",
        better={"hits": "higher"} if "hits" in columns else {},
        tolerance=",".join(f"{name}=0.3" for name in columns),
        permutations=199,
    )
    assert result.verdict.outcome == outcome
    if "stars" in columns:
        assert result.verdict.metrics["stars"].outcome == "differs beyond tolerance"
        assert {one.outcome for one in result.metrics["stars"].findings} == {
            "differs beyond tolerance"
        }
        assert {*result.groups("stars")["outcome"]} == {"differs beyond tolerance"}


def test_the_verdict_of_a_saved_audit_is_the_same(tmp_path):
    result = audit(*two_groups(80), by="group", permutations=199)
    assert result.verdict.outcome == "worse"
    assert fairrec.load(result.save(tmp_path, report=False)).verdict == result.verdict


def test_without_a_test_there_is_no_outcome():
    verdict = audit(*two_groups(), by="group", permutations=0).verdict
    assert (verdict.outcome, verdict.metrics) == (None, {})
    assert verdict == AuditVerdict(None, {})
    assert repr(verdict) == "not tested"


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
