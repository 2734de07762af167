"""Lines, modules and docstrings of the packages, and how deep an exact audit calls: `make size`."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

ROOT = Path(__file__).parents[1]
PACKAGE = str(ROOT / "src" / "fairrec")


def count_lines(folder: Path) -> tuple[int, int, int]:
    """Modules, lines, and lines of docstrings below a folder."""
    files = [*folder.rglob("*.py")]
    lines = docstrings = 0
    for file in files:
        text = file.read_text(encoding="utf-8")
        lines += len(text.splitlines())
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
                node, clean=False
            ):
                first = node.body[0]
                docstrings += (first.end_lineno or first.lineno) - first.lineno + 1
    return len(files), lines, docstrings


def profile_audit() -> tuple[int, int]:
    """Modules whose functions an exact audit calls, and the deepest stack of these functions.

    Imports happen in an audit before it; comprehensions and lambdas count as their function.
    """
    import polars as pl

    import fairrec

    users = pl.DataFrame({"user_id": range(400), "plan": ["free", "paid"] * 200})
    candidates = pl.DataFrame(
        {
            "user_id": [*range(400)] * 2,
            "item_id": [1] * 400 + [2] * 400,
            "score": [0.1] * 400 + [0.2] * 400,
            "label": [0, 1, 1, 1] * 100 + [1, 0, 0, 0] * 100,
        }
    )

    def audit() -> None:
        result = fairrec.audit(candidates, users=users, by="plan", metrics="ndcg@1", seed=1)
        with TemporaryDirectory() as folder:
            result.save(folder)

    audit()
    modules: set[str] = set()
    deepest = 0

    def count(frame: FrameType, event: str, _: Any) -> None:
        nonlocal deepest
        if event != "call" or not frame.f_code.co_filename.startswith(PACKAGE):
            return
        modules.add(frame.f_code.co_filename)
        depth, caller = 0, frame
        while caller is not None:
            is_ours = caller.f_code.co_filename.startswith(PACKAGE)
            depth += is_ours and not caller.f_code.co_name.startswith("<")
            caller = caller.f_back
        deepest = max(deepest, depth)

    sys.setprofile(count)
    audit()
    sys.setprofile(None)
    return len(modules), deepest


def main() -> None:
    """Print the counts."""
    print(f"{'folder':<20} {'modules':>8} {'lines':>8} {'docstrings':>10}")
    for folder in ("src/fairrec", "src/fairrec_paper", "tests"):
        n_modules, lines, docstrings = count_lines(ROOT / folder)
        print(f"{folder:<20} {n_modules:>8,} {lines:>8,} {docstrings / lines:>10.1%}")
    n_modules, deepest = profile_audit()
    print(f"an exact audit with its page: {n_modules} modules, at most {deepest} frames of FairRec")


if __name__ == "__main__":
    main()
