"""The package as it would be after a change."""

from __future__ import annotations

import shutil
from pathlib import Path

from fairrec.reproduction.code_sum import PACKAGE


def changed_package(folder: Path, file: str) -> Path:
    """A copy of the sources, with a line more in one of the files."""
    package = folder / file.replace("/", "-") / "fairrec"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__", "templates"))
    with (package / file).open("a") as stream:
        stream.write("# another line\n")
    return package
