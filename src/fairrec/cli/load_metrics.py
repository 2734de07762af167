"""Own metrics: Python files and modules that register them."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from fairrec.core.errors import FairRecError, InputError, plain
from fairrec.core.kinds import Kind
from fairrec.core.options import STATISTICS, Option, spelled

Load = Annotated[
    tuple[str, ...],
    Option(
        Kind(tuple, "files or modules", "FILE|MODULE", is_list=True, is_split=False),
        "Python file or module that registers own metrics; may be repeated",
        STATISTICS,
    ),
]


def load_metrics(source: str) -> tuple[Path, ...]:
    """Import a file or module for the metrics it registers; the file it is in, where it has one."""
    path = Path(source)
    try:
        if path.suffix == ".py":
            _run_file(path.resolve())
        else:
            sys.path.insert(0, "")
            try:
                # a folder of modules has no file
                path = Path(getattr(importlib.import_module(source), "__file__", None) or "")
            finally:
                with suppress(ValueError):  # the module took it out itself
                    sys.path.remove("")
    except FairRecError:
        raise
    except (Exception, SystemExit) as error:
        # a program that ends here would look like one that is done
        said = plain(f"{type(error).__name__}: {error}", 300)
        raise InputError(
            f"{spelled('load', source)}: {said}. "
            "Give a Python file, or a module that can be imported from here."
        ) from error
    return (path,) if path.is_file() else ()


def _run_file(path: Path) -> None:
    # named by its path, so that it takes the place of no module; registered, because
    # dataclasses look their module up
    name = str(path)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
