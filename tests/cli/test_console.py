"""What is printed, how far a command is, and how it ends."""

from __future__ import annotations

import io
import re
import signal
import sys
from pathlib import Path

import pytest
import typer
from rich.text import Text

from fairrec.cli.exit_codes import errors_in_words
from fairrec.cli.shared import (
    ShownConsole,
    need,
    shown_progress,
    stdout,
)
from fairrec.core.errors import BAD_INPUT, InputError
from fairrec.core.signals import end_in_order, interrupts_held
from tests.builders import make_tables
from tests.end_to_end.command_line import AUDIT, run_here, write_tables
from tests.grouped_options import on_command_line

ESCAPES = "\x1b]0;title\x07\x1b[31mred\x9b2J\u202e"


@pytest.mark.parametrize("text", [Text(ESCAPES), Text.assemble("at ", (ESCAPES, "bold"))])
def test_only_codes_of_our_own_are_sent(text):
    stream = io.StringIO()
    ShownConsole(file=stream, force_terminal=True, color_system="standard").print(text)
    # rich itself takes some of them out
    assert r"\x1b]0;title" in stream.getvalue() and r"\x1b[31mred\x9b2J\u202e" in stream.getvalue()
    assert "\x1b]" not in stream.getvalue() and "\x9b" not in stream.getvalue()


@pytest.mark.parametrize(
    "words",
    [
        (*AUDIT, "--out", ESCAPES.replace("\x9b", ""), "--title", ESCAPES),
        (*AUDIT, "--by", ESCAPES),
        (*AUDIT, "--seed", ESCAPES),
        ("list", ESCAPES),
    ],
    ids=["out", "by", "seed", "list"],
)
def test_text_of_the_user_is_escaped(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    write_tables(tmp_path, make_tables())
    ran = run_here(*words)
    printed = ran.stdout + ran.stderr
    assert printed
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & {*printed}


def test_signs_are_escaped_where_only_ascii_can_be_shown(monkeypatch):
    shown = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(shown, encoding="ascii"))
    stdout().print("auc ≤0.002")
    sys.stdout.flush()
    assert shown.getvalue() == rb"auc \u22640.002" + b"\n"


def test_what_is_needed_is_asked_for_by_its_flag():
    with pytest.raises(InputError) as caught, on_command_line():
        need({"users": "u.csv"}, "users", "by", command="audit")
    assert str(caught.value) == "--by is missing. See fairrec audit --help"


def test_stages_are_lines_where_there_is_no_terminal(capsys):
    with shown_progress(quiet=False) as progress:
        progress("reading\x1b[31m", 0, 0)
        for done in range(1, 101):
            progress("testing against chance", done, 100)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert re.sub(r"\[0:0\d\]", "[0:00]", shown.err) == (
        "[0:00] reading\\x1b[31m\n[0:00] testing against chance: 1% of 100\n"
    )


def test_an_error_of_ours_is_one_line_with_its_exit_code(capsys):
    with pytest.raises(typer.Exit) as ended, errors_in_words(debug=False):
        raise InputError("users.csv: no rows. Give some.")
    assert ended.value.exit_code == BAD_INPUT
    assert capsys.readouterr().err == "InputError: users.csv: no rows. Give some.\n"


class PanicException(BaseException):
    """As libraries in Rust raise it."""


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (KeyError("a\nb"), "UnexpectedError: KeyError: 'a\\nb'. This is a fault of FairRec"),
        (PanicException("index out of bounds"), "UnexpectedError: PanicException: index out of"),
        (MemoryError(), "MemoryError: there is not enough memory (none left). Name fewer"),
        (OSError(28, "No space left on device", "a/b"), "OSError: a/b: No space left on device."),
    ],
)
def test_an_unexpected_error_is_one_line_too(error, says, capsys):
    with pytest.raises(typer.Exit) as ended, errors_in_words(debug=False):
        raise error
    assert ended.value.exit_code == BAD_INPUT == 2
    said = capsys.readouterr().err
    assert said.startswith(says)
    assert len(said.splitlines()) == 1
    with pytest.raises(type(error)), errors_in_words(debug=True):
        raise error


@pytest.mark.parametrize("error", [SystemExit(5), typer.Exit(3), typer.Abort()])
def test_an_exit_stays_an_exit(error):
    with pytest.raises(type(error)) as ended, errors_in_words(debug=False):
        raise error
    assert ended.value is error


def test_an_interrupt_has_an_exit_code_of_its_own(capsys):
    with pytest.raises(typer.Exit) as ended, errors_in_words(debug=False):
        raise KeyboardInterrupt
    assert ended.value.exit_code == 130
    assert capsys.readouterr().err == "Interrupted.\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_ends_a_command_is_an_exit_after_what_it_may_not_break(number):
    done = []
    before = {one: signal.signal(one, signal.SIG_DFL) for one in (signal.SIGTERM, signal.SIGHUP)}
    try:
        end_in_order()
        with (
            pytest.raises(typer.Exit) as ended,
            errors_in_words(debug=False),
            interrupts_held(),
        ):
            signal.raise_signal(number)
            done.append("all of it")
        assert (done, ended.value.exit_code) == (["all of it"], 128 + number)
        signal.raise_signal(number)  # a second one is ignored
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        end_in_order()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
