"""A checksum of the code that a piece of work rests on."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from fairrec.core.errors import InputError, plain

PACKAGE = Path(__file__).parents[1]
PRESENTATION = ("report", "cli")
"""Stages that word and draw what was worked out: no number comes from them."""


@cache
def code_sum(module: str, package: Path = PACKAGE) -> str:
    """The SHA-256 checksum over the sources of a module and of all that it imports of its package.

    It is worked out once in a process.
    """
    digest = hashlib.sha256()
    for name in sorted(modules_behind(module, package)):
        content = _content(name, package)
        digest.update(f"{name} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def modules_behind(module: str, package: Path = PACKAGE) -> set[str]:
    """The module and what it imports of its package, directly or not, also inside functions.

    A module that is named in a text, as registries name the home of their entries, counts too.

    A package's `__init__.py` counts where something is imported from the package itself, such as a
    registry with all its entries. What is imported for types alone, and what only words and draws,
    does not count.
    """
    left_out = tuple(f"{package.name}.{stage}." for stage in PRESENTATION)
    found: set[str] = set()
    waiting = {module}
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= {
            other
            for other in _imports(name, package)
            if other not in found and not f"{other}.".startswith(left_out)
        }
    return found


@cache
def _imports(module: str, package: Path) -> frozenset[str]:
    """The modules of the package that one of them imports."""
    named: set[str] = set()
    for node in _at_run_time(ast.parse(_content(module, package))):
        if isinstance(node, ast.Import):
            named |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            # a name is a module of its own, or in the module
            named |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Constant) and "." in str(node.value):
            # the home of what is loaded when it is first asked for
            named.add(str(node.value))
    own = {name for name in named if f"{name}.".startswith(f"{package.name}.")}
    return frozenset(name for name in own if _source(name, package).exists())


def _at_run_time(module: ast.AST) -> Iterator[ast.AST]:
    """All parts of the code but those that only a type checker reads."""
    waiting = [module]
    while waiting:
        for part in ast.iter_child_nodes(waiting.pop()):
            if isinstance(part, ast.If) and ast.unparse(part.test) == "TYPE_CHECKING":
                continue
            yield part
            waiting.append(part)


def _content(module: str, package: Path) -> bytes:
    """The source of a module; without it, nothing tells whether a kept number is of this code."""
    file = _source(module, package)
    try:
        return file.read_bytes()
    except OSError as error:
        raise InputError(
            f"{plain(file, 300)}: cannot be read ({error.strerror}). Experiments are kept by a "
            "checksum of the code behind them. Install FairRec with its .py files, not in a zip "
            "archive."
        ) from error


def _source(module: str, package: Path) -> Path:
    """The file of a module of the package."""
    path = package.parent.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
