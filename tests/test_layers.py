"""A stage imports only the stages before it."""

from __future__ import annotations

import ast
from pathlib import Path

import fairrec

PACKAGE = Path(fairrec.__file__).parent
STAGES = [
    *("inputs", "scoring", "metrics", "groups", "search", "statistics", "result", "report"),
    "mitigation",
]
FOUNDATIONS = {"arrays", "errors", "files", "options", "registry", "threads", "version"}
# the result is what users hold: its save() and show() hand it to the report
BESIDES = {
    "result/audit_result.py": {"report"},
    # the shallow recommenders, which need no torch
    "mitigation/second_opinion.py": {"models"},
}


def imported_modules(file: Path) -> set[str]:
    """The first name after `fairrec.` of everything a file imports."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fairrec."):
            found.add(node.module.split(".")[1])
    return found


def test_a_stage_imports_only_stages_before_it():
    for number, stage in enumerate(STAGES):
        allowed = FOUNDATIONS | set(STAGES[: number + 1])
        for file in (PACKAGE / stage).rglob("*.py"):
            allowed_here = allowed | BESIDES.get(f"{stage}/{file.name}", set())
            assert imported_modules(file) <= allowed_here, file.name


def test_foundations_import_no_stage():
    for name in FOUNDATIONS:
        assert imported_modules(PACKAGE / f"{name}.py") <= FOUNDATIONS, name


def test_every_folder_is_a_stage_or_beside_them():
    folders = {folder.name for folder in PACKAGE.iterdir() if (folder / "__init__.py").exists()}
    assert folders == {*STAGES, "models", "datasets", "reproduction", "cli"}
