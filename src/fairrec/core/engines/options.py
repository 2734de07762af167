"""The options of engines."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from fairrec.core.errors import InputError
from fairrec.core.kinds import FOLDER, TEXT, one_of, whole
from fairrec.core.options import ENGINE, Option, Options, spelled

EngineName = Annotated[
    Literal["local", "ray"],
    Option(
        one_of("local", "ray"),
        "What works on the parts of a large table. local: this process; ray: the workers of Ray, "
        "which need the same packages and reach the files by the same names",
        ENGINE,
    ),
]
Address = Annotated[
    str | None,
    Option(
        TEXT.or_none(),
        "The Ray cluster: HOST:6379, or 'auto' for the one that this machine is a node of",
        ENGINE,
        default="RAY_ADDRESS where it is set, else workers are started on this machine",
    ),
]
Workers = Annotated[
    int | None,
    Option(
        whole(1).or_none(),
        "Parts that are worked on at once; each needs memory of its own",
        ENGINE,
        default="local: one, with all threads; ray: one for each CPU of the cluster",
    ),
]


Scratch = Annotated[
    Path | None,
    Option(
        FOLDER.or_none(),
        "Folder for what parts need on disk until the end; workers on other machines must reach it",
        ENGINE,
        default="the system's folder for such files",
    ),
]


@dataclass(frozen=True)
class EngineOptions(Options):
    """Where the work is done; no number depends on it."""

    engine: EngineName = "local"
    address: Address = None
    workers: Workers = None
    scratch: Scratch = None

    def check(self) -> None:
        """Refuse an address that nothing would be sent to."""
        if self.address is not None and self.engine != "ray":
            raise InputError(
                f"{spelled('address', self.address)} is the address of a Ray cluster. "
                f"Add {spelled('engine', 'ray')}, or leave it out."
            )
