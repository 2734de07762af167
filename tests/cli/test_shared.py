from __future__ import annotations

import io
import sys

import pytest
import typer

from fairrec.cli.shared import BAD_INPUT, INTERRUPTED, errors_in_words, need, print_markdown, stdout
from fairrec.core.errors import InputError
from fairrec.core.options import from_command_line


def test_signs_can_be_read_where_only_ascii_can_be_shown(monkeypatch):
    shown = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(shown, encoding="ascii"))
    stdout().print("−0.5 ≤0.002 naïve · auc▼ urd▲ urp◆")
    sys.stdout.flush()
    assert (
        shown.getvalue() == rb"-0.5 <=0.002 na\xefve | auc(worse) urd(better) urp(differs)" + b"\n"
    )


def test_an_error_of_ours_is_said_in_a_line_with_its_exit_code(capsys):
    with pytest.raises(typer.Exit) as ended, errors_in_words(debug=False):
        raise InputError("users.csv: no rows. Give some.")
    assert ended.value.exit_code == BAD_INPUT
    assert capsys.readouterr().err == "InputError: users.csv: no rows. Give some.\n"


def test_debugging_shows_the_error_itself():
    with pytest.raises(InputError), errors_in_words(debug=True):
        raise InputError("users.csv: no rows.")


def test_an_interrupt_has_an_exit_code_of_its_own(capsys):
    with pytest.raises(typer.Exit) as ended, errors_in_words(debug=False):
        raise KeyboardInterrupt
    assert ended.value.exit_code == INTERRUPTED
    assert capsys.readouterr().err == "Interrupted.\n"


def test_what_is_needed_is_asked_for_by_its_flag():
    with from_command_line(), pytest.raises(InputError) as caught:
        need({"users": "u.csv"}, "users", "by", command="audit")
    assert str(caught.value) == "--by is missing. See fairrec audit --help"


def test_markdown_can_be_read_where_few_characters_can_be_shown(monkeypatch):
    shown = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(shown, encoding="cp1252"))
    print_markdown("| −0.5 | ≤0.002 |\n")
    sys.stdout.flush()
    assert shown.getvalue() == b"| -0.5 | <=0.002 |\n"
