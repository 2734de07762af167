"""What stands beside the package and is run by hand still finds what it imports."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = [*sorted((ROOT / "benchmarks").glob("*.py")), ROOT / "docs" / "make_pictures.py"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_name_of_the_package_is_there(file: Path):
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "fairrec":
            module = importlib.import_module(str(node.module))
            missing = [name.name for name in node.names if not hasattr(module, name.name)]
            assert not missing, f"line {node.lineno}: {node.module} has no {missing}"
