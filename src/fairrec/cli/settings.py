"""The files that options are read from: a plan, and settings that are named or found."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from fairrec.core.errors import listed, plain
from fairrec.core.kinds import FILE
from fairrec.core.options import PLANNING, Option
from fairrec.core.settings import SETTINGS_FILE

NONE = "none"

PlanOption = Annotated[
    Path | None,
    Option(
        FILE,
        "A plan that fairrec plan froze: what it sets holds where nothing else is given here, and "
        "the result lists what differs from it",
        PLANNING,
    ),
]
SettingsOption = Annotated[
    str | Path | None,
    Option(
        FILE.or_word(NONE),
        f"Settings in a TOML file; '{NONE}' for none at all",
        PLANNING,
        default=f"{SETTINGS_FILE} in the working folder, where there is one",
    ),
]


def settings_file(asked: str | Path | None) -> Path | None:
    """The settings file that was named, or else the one that is found in the working folder."""
    if asked is not None:
        return None if asked == NONE else Path(asked)
    # also where it is a link that leads nowhere, so that it is told
    return Path(SETTINGS_FILE) if os.path.lexists(SETTINGS_FILE) else None


def settings_said(file: Path, names: Iterable[str]) -> str:
    """Which options are taken from a settings file."""
    return f"settings from {plain(file, 300)}: {listed(names) or 'none'}"
