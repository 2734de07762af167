"""A stage imports only the stages before it, and what is installed is what the code uses."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import fairrec

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
IMPORTED_AS = {"mlflow_skinny": "mlflow", "vl_convert_python": "vl_convert"}
WITH_OTHERS = {"pandas", "pyarrow"}
"""Frames that users bring: they are read through narwhals and Polars, without an import of ours."""
PACKAGE = Path(fairrec.__file__).parent
SPINE = [
    *("core", "inputs", "metrics", "groups", "scoring", "search", "statistics", "counts"),
    *("result", "report", "cli", "auditing"),
]
FEATURES = ["mitigation", "counterfactuals", "comparison", "trends", "planning", "gating"]
JUDGED = {"counterfactuals", "comparison", "trends"}
"""Features whose results a gate judges."""
STAGES = [*SPINE, *FEATURES, "loading", "schemas", "demo", "integrations", "testing", "commands"]


@cache
def imported_names(file: Path) -> set[str]:
    """Everything a file imports, inside functions too."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports are absolute"
            module = node.module or ""
            found |= {f"{module}.{name.name}" for name in node.names}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
    return found


def imported_stages(file: Path) -> set[str]:
    """The first name after `fairrec.` of everything a file imports."""
    names = imported_names(file)
    return {name.split(".")[1] for name in names if name.startswith("fairrec.")}


def test_a_stage_imports_only_stages_before_it_and_a_feature_no_other():
    wrong = {}
    for number, stage in enumerate(STAGES):
        allowed = {*STAGES[: number + 1]}
        if stage in FEATURES:
            allowed = {*SPINE, stage, *(JUDGED if stage == "gating" else ())}
        for file in (*(PACKAGE / stage).rglob("*.py"), *PACKAGE.glob(f"{stage}.py")):
            besides = imported_stages(file) - allowed
            if besides:
                wrong[str(file.relative_to(PACKAGE))] = besides
    assert wrong == {}


def test_every_folder_and_module_is_a_stage():
    folders = {folder.name for folder in PACKAGE.iterdir() if (folder / "__init__.py").exists()}
    modules = {file.stem for file in PACKAGE.glob("[!_]*.py")}
    assert folders | modules == set(STAGES)


def test_the_paper_s_package_is_imported_by_nothing_of_the_core():
    wrong = {
        str(file.relative_to(PACKAGE)): name
        for file in PACKAGE.rglob("*.py")
        for name in imported_names(file)
        if name.split(".")[0] == "fairrec_paper"
    }
    assert wrong == {}


def modules_of(requirements: list[str]) -> set[str]:
    names = {re.split(r"[\[<>=!~ ;]", one)[0].replace("-", "_").lower() for one in requirements}
    return {IMPORTED_AS.get(name, name) for name in names}


def test_every_package_that_is_installed_is_used():
    extras = PROJECT["optional-dependencies"]
    apart = ("dev", "bench", "docs")
    named = [one for name, part in extras.items() if name not in apart for one in part]
    asked = modules_of([*PROJECT["dependencies"], *named]) - {"fairrec"} - WITH_OTHERS
    files = (ROOT / "src").rglob("*.py")
    used = {name.split(".")[0] for file in files for name in imported_names(file)}
    assert asked - used == set()


def test_every_requirement_has_a_lower_bound():
    extras = PROJECT["optional-dependencies"]
    light = [one for name, part in extras.items() if name != "bench" for one in part]
    for requirement in [*PROJECT["dependencies"], *light]:
        assert ">=" in requirement or requirement.startswith("fairrec["), requirement
