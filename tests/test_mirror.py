"""Whoever opens a module finds its tests under the same path."""

from __future__ import annotations

import ast
from pathlib import Path

import fairrec

PACKAGE = Path(fairrec.__file__).parent
TESTS = Path(__file__).parent


def modules() -> set[str]:
    """Every module as a path from the package, `__init__` and `__main__` left out."""
    return {
        str(file.relative_to(PACKAGE).with_suffix(""))
        for file in PACKAGE.rglob("*.py")
        if not file.stem.startswith("__")
    }


def holds_logic(source: str) -> bool:
    """Whether anything is computed; names of types, listings and plain records compute nothing."""
    computing = (ast.Lambda, ast.comprehension, ast.For, ast.While, ast.Try, ast.With)
    return any(
        isinstance(node, computing)
        or (isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not is_declared(node))
        for node in ast.walk(ast.parse(source))
    )


def is_declared(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether it has nothing but a docstring or an ellipsis, as in a protocol."""
    return all(
        isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)
        for line in function.body
    )


def test_every_module_has_a_test_file_of_its_name():
    without = {
        module
        for module in modules()
        if not (TESTS / module).with_name(f"test_{Path(module).name}.py").is_file()
        and holds_logic((PACKAGE / f"{module}.py").read_text("utf-8"))
    }
    assert without == set()


def test_a_module_that_computes_something_is_told_from_one_that_does_not():
    record = "class Point:\n    'A point.'\n    x: float = 0.0\n"
    protocol = (
        "class Asks(Protocol):\n    def ask(self) -> int:\n        'How many.'\n        ...\n"
    )
    for source in ("", "import numpy as np\nFloats = np.ndarray\n", record, protocol):
        assert not holds_logic(source)
    method = f"{record}    def twice(self) -> float:\n        return 2 * self.x\n"
    loaded = "TABLE = {name: len(name) for name in NAMES}\n"
    for source in (method, loaded, "twice = lambda x: 2 * x\n"):
        assert holds_logic(source)
