"""The files that a command takes options and metrics from: plans, settings, Python files."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from fairrec.auditing.options import SETTINGS
from fairrec.cli.shared import say
from fairrec.core.errors import FairRecError, InputError, listed, plain
from fairrec.core.option_types import Form
from fairrec.core.options import PLANNING, STATISTICS, Option, spell
from fairrec.core.settings import SETTINGS_FILE, read_settings

NONE = "none"


PlanOption = Annotated[
    Path | None,
    Option(
        "A plan that fairrec plan froze: what it sets holds where nothing else is given here, and "
        "the result lists what differs from it",
        PLANNING,
    ),
]
SettingsOption = Annotated[
    Path | None,
    Form(f"a path, or '{NONE}'", f"FILE|{NONE}"),
    Option(
        f"Settings in a TOML file; '{NONE}' for none at all",
        PLANNING,
        default=f"{SETTINGS_FILE} in the working folder, where there is one",
    ),
]


def settings_file(asked: Path | None, plan: Path | None = None) -> Path | None:
    """The settings file that was named, or else the one that is found in the working folder.

    Where a plan is followed, a plan found in the folder is not read as settings.
    """
    if asked is not None:
        return None if asked == Path(NONE) else asked
    found = Path(SETTINGS_FILE)
    # also a link that leads nowhere, which is an error
    if not os.path.lexists(found):
        return None
    is_other_plan = plan is not None and read_settings(found, SETTINGS).frozen is not None
    return None if is_other_plan else found


def say_settings(asked: Path | None, file: Path, names: Collection[str], *, quiet: bool) -> None:
    """Say which options are taken from a settings file.

    A file that was found and not named says so even where all else is quiet: it was not asked for,
    and it changes the result.
    """
    if not quiet or (asked is None and names):
        say(f"settings from {plain(file, 300)}: {listed(names) or 'none'}")


Load = Annotated[
    tuple[str, ...],
    Form("files or modules", "FILE|MODULE", is_list=True, is_split=False),
    Option("Python file or module that registers own metrics; may be repeated", STATISTICS),
]


def load_metrics(source: str) -> None:
    """Import a file or module for the metrics it registers."""
    path = Path(source)
    try:
        if path.suffix == ".py":
            _run_file(path.resolve())
        else:
            sys.path.insert(0, "")
            try:
                importlib.import_module(source)
            finally:
                with suppress(ValueError):  # the module took it out itself
                    sys.path.remove("")
    except FairRecError:
        raise
    except (Exception, SystemExit) as error:
        # a program that ends here would look like one that is done
        said = plain(f"{type(error).__name__}: {error}", 300)
        raise InputError(
            f"{spell('load', source)}: {said}. "
            "Give a Python file, or a module that can be imported from here."
        ) from error


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
