"""Run the command line, in this process or in one of its own, on small files."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import typer
from typer.testing import CliRunner

from fairrec.commands import app
from tests.builders import Tables, make_tables

AUDIT = (
    *("audit", "predictions.parquet", "--users", "users.parquet"),
    *("--permutations", "39", "--min-support", "1"),
)
"""An audit of the files of `write_tables`, groups of any size, which still needs `--by`."""


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    stdout: str
    stderr: str
    """Without the lines that tell how far it is."""
    progress: tuple[str, ...] = ()

    @classmethod
    def of(cls, code: int, stdout: str, stderr: str) -> Ran:
        """With progress apart, which is as long as the machine is slow."""
        progress = re.compile(r"^\[\d+:\d\d\] (.*)\n", re.MULTILINE)
        return cls(code, stdout, progress.sub("", stderr), tuple(progress.findall(stderr)))


# an app builds all its commands anew each time it is called, which takes longer than an audit
built_command = cache(lambda: typer.main.get_command(app))


def run_here(*arguments: str) -> Ran:
    """Run the command line in this process; an exception that is no exit is raised."""
    return run_command(built_command(), "fairrec", arguments)


def run_command(command: Any, program: str, arguments: Sequence[str]) -> Ran:
    """Run the command line of a program in this process."""
    code = 0
    argv = patch.object(sys, "argv", [program, *arguments])
    with argv, CliRunner().isolation() as (stdout, stderr, *_):
        try:
            command.main(args=arguments, prog_name=program)
        except SystemExit as ended:
            code = ended.code
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
        said = stdout.getvalue().decode(), stderr.getvalue().decode()
    assert isinstance(code, int)
    return Ran.of(code, *said)


def run_process(
    *arguments: str | bytes, folder: Path, environment: Mapping[str, str] | None = None
) -> Ran:
    """Run the command line in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "fairrec", *arguments],
        cwd=folder,
        env=plain_environment(environment),
        capture_output=True,
        check=False,
        timeout=60,
    )
    return Ran.of(done.returncode, done.stdout.decode(), done.stderr.decode())


def plain_environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment without what would colour the output or choose its encoding."""
    unwanted = ("FORCE_COLOR", "NO_COLOR", "COLUMNS", "TTY_COMPATIBLE", "PYTHONIOENCODING")
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    return {**kept, "PYTHONUTF8": "1", "PYTHONWARNINGS": "error", **(more or {})}


def write_tables(folder: Path, tables: Tables | None = None) -> Tables:
    """Write `predictions.parquet`, `users.parquet`, `items.parquet`, `history.parquet`."""
    tables = tables or make_tables()
    for name, table in tables._asdict().items():
        table.write_parquet(folder / f"{name}.parquet")
    return tables


def files_in(folder: Path) -> dict[str, bytes | None]:
    """Every path under a folder with its content; None for folders."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }
