"""A Python function by its name: `package.module:function`."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fairrec.core.errors import InputError, plain, unknown_name
from fairrec.core.files import file_sum
from fairrec.core.options import invalid, spelled
from fairrec.scoring.models.model import ScoringFunction


def load_function(text: str, features: Sequence[str] = ()) -> tuple[ScoringFunction, str]:
    """The function that `package.module:function` names, and a name for its ledger.

    The module is looked for from the current folder first. The name holds the checksum of the
    function's file, so that a ledger is not used after the file was changed.

    >>> load_function("hypot")
    Traceback (most recent call last):
    fairrec.core.errors.InputError: invalid scorer: expected package.module:function, got 'hypot'
    """
    module_name, colon, path = text.partition(":")
    if not (colon and module_name.strip() and path.strip()):
        raise invalid("scorer", "package.module:function", text)
    module = _module(module_name.strip(), text)
    found: Any = module
    for name in path.strip().split("."):
        if not hasattr(found, name):
            known = [one for one in vars(found) if not one.startswith("_")]
            error = unknown_name(f"name in {plain(module_name)}", name, known)
            raise InputError(f"{spelled('scorer')} {plain(text)}: {error}")
        found = getattr(found, name)
    if not callable(found):
        raise InputError(
            f"{spelled('scorer')} {plain(text)} is a {type(found).__name__}, no function. Name a "
            "function score(user_ids, item_ids) that returns one number for each pair."
        )
    _refuse_other_arguments(found, text, features)
    return found, f"scorer {text.strip()}{_sum_of(found, module)}"


def _module(name: str, text: str) -> Any:
    sys.path.insert(0, "")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if name == missing or name.startswith(f"{missing}."):
            raise InputError(
                f"{spelled('scorer')} {plain(text)}: there is no module {plain(repr(missing))} "
                f"here ({plain(Path.cwd(), 200)}) or among the installed ones. Start where it can "
                "be imported, or set PYTHONPATH."
            ) from error
        raise InputError(
            f"{spelled('scorer')} {plain(text)}: {plain(name)} needs the module "
            f"{plain(repr(missing))}, which is not installed."
        ) from error
    except (Exception, SystemExit) as error:
        raise InputError(
            f"{spelled('scorer')} {plain(text)}: {plain(name)} cannot be imported: "
            f"{type(error).__name__}: {plain(error, 300)}. {spelled('debug')} shows where."
        ) from error
    finally:
        sys.path.remove("")


def _refuse_other_arguments(function: Any, text: str, features: Sequence[str]) -> None:
    """Refuse what cannot be called with these arrays, before anything is read."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        # built-in functions may have none
        return
    try:
        signature.bind("user_ids", "item_ids", **dict.fromkeys(features))
    except TypeError as error:
        called = ", ".join(["user_ids", "item_ids", *(f"{plain(name)}=" for name in features)])
        raise InputError(
            f"{spelled('scorer')} {plain(text)}: it is called as score({called}), but "
            f"takes {plain(signature, 120)} ({plain(error)})."
        ) from error


def _sum_of(function: Any, module: Any) -> str:
    """The checksum of the file that holds the function, where there is one."""
    home = sys.modules.get(getattr(function, "__module__", "") or "", module)
    file = getattr(home, "__file__", None)
    if file is None or not Path(file).is_file():
        return ""
    return f" of file {file_sum(Path(file))}"
