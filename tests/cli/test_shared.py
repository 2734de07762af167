from __future__ import annotations

import io
import re
import sys

import pytest

from fairrec.cli.shared import (
    need,
    print_markdown,
    shown_progress,
    stdout,
)
from fairrec.core.errors import InputError, OutputError
from fairrec.core.version import __version__
from tests.grouped_options import on_command_line


def test_signs_can_be_read_where_only_ascii_can_be_shown(monkeypatch):
    shown = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(shown, encoding="ascii"))
    stdout().print("−0.5 ≤0.002 naïve · auc▼ urd▲ urp◆")
    sys.stdout.flush()
    assert (
        shown.getvalue() == rb"-0.5 <=0.002 na\xefve | auc(worse) urd(better) urp(differs)" + b"\n"
    )


def test_what_is_needed_is_asked_for_by_its_flag():
    with pytest.raises(InputError) as caught, on_command_line():
        need({"users": "u.csv"}, "users", "by", command="audit")
    assert str(caught.value) == "--by is missing. See fairrec audit --help"


def test_markdown_can_be_read_where_few_characters_can_be_shown(monkeypatch):
    shown = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(shown, encoding="cp1252"))
    print_markdown("| −0.5 | ≤0.002 |\n")
    sys.stdout.flush()
    assert shown.getvalue() == b"| -0.5 | <=0.002 |\n"


def test_stages_are_lines_where_there_is_no_terminal(capsys):
    with shown_progress(quiet=False) as progress:
        progress("reading\x1b[31m", 0, 0)
        for done in range(1, 101):
            progress("testing against chance", done, 100)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert re.sub(r"\[0:0\d\]", "[0:00]", shown.err) == (
        "[0:00] reading\\x1b[31m\n[0:00] testing against chance: 1% of 100 permutations\n"
    )


def test_quiet_is_silent_and_a_log_is_written_all_the_same(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["fairrec", "search-bench", "--key=hush"])
    log = tmp_path / "new" / "runs.log"
    for _ in range(2):
        with shown_progress(quiet=True, log=log) as progress:
            progress("reading", 0, 0)
    with pytest.raises(KeyboardInterrupt), shown_progress(quiet=False, log=log) as progress:
        progress("writing", 0, 0)
        raise KeyboardInterrupt
    assert capsys.readouterr().err == "[0:00] writing\n"
    lines = log.read_text().splitlines()
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ ", line) for line in lines)
    begins = f"fairrec {__version__} search-bench"
    assert [line.partition(" ")[2] for line in lines] == [
        *(begins, "reading", "done") * 2,
        *(begins, "writing", "ended by KeyboardInterrupt"),
    ]


def test_a_first_word_that_is_no_command_is_not_logged(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["fairrec", "--key=hush"])
    with shown_progress(quiet=True, log=tmp_path / "a.log"):
        pass
    assert "hush" not in (tmp_path / "a.log").read_text()


def test_a_log_that_cannot_be_written_is_an_error_in_words(tmp_path):
    with (
        pytest.raises(OutputError, match=r"cannot be written \(Is a directory\)"),
        shown_progress(quiet=True, log=tmp_path),
    ):
        pass


def test_progress_that_nobody_can_read_stops_nothing(monkeypatch):
    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr("sys.stderr", Closed())
    with shown_progress(quiet=False) as progress:
        progress("reading", 0, 0)
