"""What is installed is what the code uses."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
IMPORTED_AS = {"mlflow_skinny": "mlflow", "vl_convert_python": "vl_convert"}
WITH_OTHERS = {"pandas", "pyarrow"}
"""Frames that users bring: they are read through narwhals and Polars, without an import of ours."""


def imported() -> set[str]:
    """The first names of all that the package imports."""
    found = set()
    for file in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                found |= {name.name.split(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.split(".")[0])
    return found


def modules_of(requirements: list[str]) -> set[str]:
    names = {re.split(r"[\[<>=!~ ;]", one)[0].replace("-", "_").lower() for one in requirements}
    return {IMPORTED_AS.get(name, name) for name in names}


def test_every_package_that_is_installed_is_used():
    extras = PROJECT["optional-dependencies"]
    apart = ("dev", "bench", "docs")
    named = [one for name, part in extras.items() if name not in apart for one in part]
    asked = modules_of([*PROJECT["dependencies"], *named]) - {"fairrec"} - WITH_OTHERS
    assert asked - imported() == set()


def test_every_requirement_has_a_lower_bound():
    extras = PROJECT["optional-dependencies"]
    light = [one for name, part in extras.items() if name != "bench" for one in part]
    for requirement in [*PROJECT["dependencies"], *light]:
        assert ">=" in requirement or requirement.startswith("fairrec["), requirement
