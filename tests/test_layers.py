"""A stage imports only the stages before it."""

from __future__ import annotations

import ast
from pathlib import Path

import fairrec

PACKAGE = Path(fairrec.__file__).parent
STAGES = [
    "core",
    *(
        "inputs",
        "metrics",
        "groups",
        "scoring",
        "search",
        "statistics",
        "counts",
        "result",
        "report",
    ),
    *("datasets", "models", "mitigation", "policy", "workflows", "stores", "testing"),
    *("reproduction", "cli"),
]


def imported_stages(file: Path) -> set[str]:
    """The first name after `fairrec.` of everything a file imports, inside functions too."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports are absolute"
            module = node.module or ""
            names = [f"{module}.{name.name}" for name in node.names]
        elif isinstance(node, ast.Import):
            names = [name.name for name in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("fairrec.")}
    return found


def test_a_stage_imports_only_stages_before_it():
    wrong = {}
    for number, stage in enumerate(STAGES):
        allowed = set(STAGES[: number + 1])
        for file in (PACKAGE / stage).rglob("*.py"):
            besides = imported_stages(file) - allowed
            if besides:
                wrong[str(file.relative_to(PACKAGE))] = besides
    assert wrong == {}


def test_every_folder_is_a_stage_and_no_module_lies_beside_them():
    folders = {folder.name for folder in PACKAGE.iterdir() if (folder / "__init__.py").exists()}
    assert folders == set(STAGES)
    # and the door that `python -m fairrec` enters by
    assert {file.name for file in PACKAGE.glob("*.py")} == {"__init__.py", "__main__.py"}
