from __future__ import annotations

import io
import signal

import pytest
import typer

from fairrec.cli.exit_codes import (
    BAD_INPUT,
    HUNG_UP,
    INTERRUPTED,
    TERMINATED,
    errors_in_words,
)
from fairrec.core.errors import InputError


def test_an_error_of_ours_is_said_in_a_line_with_its_exit_code(capsys):
    with pytest.raises(typer.Exit) as ended, errors_in_words(debug=False):
        raise InputError("users.csv: no rows. Give some.")
    assert ended.value.exit_code == BAD_INPUT
    assert capsys.readouterr().err == "InputError: users.csv: no rows. Give some.\n"


def test_debugging_shows_the_error_itself():
    with pytest.raises(InputError), errors_in_words(debug=True):
        raise InputError("users.csv: no rows.")


class PanicException(BaseException):
    """As libraries in Rust raise it."""


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (KeyError("a\nb"), "UnexpectedError: KeyError: 'a\\nb'. This is a fault of FairRec"),
        (PanicException("index out of bounds"), "UnexpectedError: PanicException: index out of"),
        (MemoryError(), "MemoryError: there is not enough memory (none left). Name fewer"),
        (OSError(28, "No space left on device", "a/b"), "OSError: a/b: No space left on device."),
        (OSError("odd"), "UnexpectedError: OSError: odd. This is a fault"),
    ],
)
def test_what_nobody_foresaw_is_said_in_a_line_too(error, says, capsys):
    with pytest.raises(typer.Exit) as ended, errors_in_words(debug=False):
        raise error
    assert ended.value.exit_code == BAD_INPUT == 2
    said = capsys.readouterr().err
    assert said.startswith(says)
    assert len(said.splitlines()) == 1
    with pytest.raises(type(error)), errors_in_words(debug=True):
        raise error


@pytest.mark.parametrize("error", [SystemExit(5), typer.Exit(3), typer.Abort(), GeneratorExit()])
def test_who_wants_to_exit_does(error):
    with pytest.raises(type(error)) as ended, errors_in_words(debug=False):
        raise error
    assert ended.value is error


def test_an_error_that_nobody_can_read_has_its_exit_code_all_the_same(monkeypatch):
    class Full(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("sys.stderr", Full())
    with pytest.raises(typer.Exit) as ended, errors_in_words(debug=False):
        raise InputError("bad")
    assert ended.value.exit_code == BAD_INPUT


def test_an_interrupt_has_an_exit_code_of_its_own(capsys):
    with pytest.raises(typer.Exit) as ended, errors_in_words(debug=False):
        raise KeyboardInterrupt
    assert ended.value.exit_code == INTERRUPTED
    assert capsys.readouterr().err == "Interrupted.\n"


@pytest.mark.parametrize(
    ("number", "code", "says"),
    [
        (signal.SIGTERM, TERMINATED, "Terminated.\n"),
        (signal.SIGHUP, HUNG_UP, "Hung up.\n"),
    ],
)
def test_a_command_that_is_to_end_clears_away_what_it_began(number, code, says, capsys):
    cleared = []
    # whoever runs the tests may have hang-ups ignored
    before = signal.signal(number, signal.SIG_DFL)
    try:
        with pytest.raises(typer.Exit) as ended, errors_in_words(debug=False):
            try:
                signal.raise_signal(number)
            finally:
                # once is enough
                signal.raise_signal(number)
                cleared.append(True)
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, before)
    assert ended.value.exit_code == code == 128 + number
    assert cleared == [True]
    assert capsys.readouterr().err == says


def test_a_hang_up_that_is_ignored_stays_so():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with errors_in_words(debug=False):
            signal.raise_signal(signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_sigterm_is_told_from_ctrl_c_whatever_a_library_makes_of_it(capfd):
    with pytest.raises(typer.Exit) as ended, errors_in_words(debug=False):
        try:
            signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt:
            raise KeyboardInterrupt from None
    assert ended.value.exit_code == 143
    assert "Terminated." in capfd.readouterr().err
