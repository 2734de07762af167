"""What is printed reaches a terminal as text."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.text import Text

from fairrec.cli.shared import ShownConsole, shown
from tests.builders import make_tables
from tests.end_to_end.command_line import AUDIT, run_here, write_tables

ESCAPES = "\x1b]0;title\x07\x1b[31mred\x9b2J\u202e"
SHOWN = r"\x1b]0;title\x07\x1b[31mred\x9b2J\u202e"


def test_lines_stay_lines_and_long_ones_whole():
    assert shown(f"a{ESCAPES}\nb") == f"a{SHOWN}\nb"
    assert shown("x" * 5000) == "x" * 5000


@pytest.mark.parametrize("text", [Text(ESCAPES), Text.assemble("at ", (ESCAPES, "bold"))])
def test_only_codes_of_our_own_are_sent(text):
    stream = io.StringIO()
    ShownConsole(file=stream, force_terminal=True, color_system="standard").print(text)
    # rich itself takes some of them out
    assert r"\x1b]0;title" in stream.getvalue() and r"\x1b[31mred\x9b2J\u202e" in stream.getvalue()
    assert "\x1b]" not in stream.getvalue() and "\x9b" not in stream.getvalue()


def test_styles_are_still_sent():
    stream = io.StringIO()
    ShownConsole(file=stream, force_terminal=True, color_system="standard").print(
        Text("bold", style="bold")
    )
    assert stream.getvalue() == "\x1b[1mbold\x1b[0m\n"


FOLDER = ESCAPES.replace("\x9b", "")
"""As a file system may have it."""


@pytest.mark.parametrize(
    "words",
    [
        (*AUDIT, "--out", FOLDER, "--title", ESCAPES),
        (*AUDIT, "--out", FOLDER, "--format", "markdown", "--title", ESCAPES),
        (*AUDIT, "--log", "."),
        (*AUDIT, "--by", ESCAPES),
        (*AUDIT, "--metrics", ESCAPES),
        (*AUDIT, "--gate", ESCAPES),
        (*AUDIT, f"--{ESCAPES}"),
        (*AUDIT, "--seed", ESCAPES),
        ("report", FOLDER, "--out", FOLDER),
        ("init", FOLDER),
        ("list", ESCAPES),
        (ESCAPES,),
        ("count", "predictions.parquet", "--users", FOLDER, "--out", f"{FOLDER}2"),
    ],
    ids=lambda words: " ".join(words).replace(ESCAPES, "X").replace(FOLDER, "X")[-30:],
)
def test_what_the_user_writes_is_shown(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    write_tables(tmp_path, make_tables())
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "run.json").write_text("{")
    ran = run_here(*words)
    said = ran.stdout + ran.stderr
    assert said
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & {*said}
