from __future__ import annotations

import shlex

import pytest

from fairrec.core.redact_paths import redact_command, redact_path

SECRET = "client <b>; $(id)\n,=é"
"""A folder of the auditor whose name must not be told, with all that a shell or a page acts on."""


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("recs.csv", "recs.csv"),
        ("a/../b/recs.csv", "a/../b/recs.csv"),
        ("..", ".."),
        ("/", ""),
        (f"/home/{SECRET}/recs.csv", "recs.csv"),
        (f"a/../../{SECRET}/recs.csv", "recs.csv"),
        (f"//srv/{SECRET}/recs.csv/", "recs.csv"),
        (f"/home/{SECRET}/../{SECRET}/recs.csv", "recs.csv"),
    ],
)
def test_folders_outside_the_working_folder_are_not_told(path, told):
    assert redact_path(path) == told


def test_no_folder_is_told_of_a_command():
    words = [
        *("fairrec", "audit", f"/home/{SECRET}/recs.csv", f"--users=/home/{SECRET}/u.csv"),
        *("--load", f"../{SECRET}/own.py", "--out", f"/home/{SECRET}/out", "--by", "a,b"),
        *("--junit", "gate.xml", "--summary=gate.md"),
        *(f"--out=/home/{SECRET}", "--endpoint", "http://host/../v2", "--title", "", "--quiet"),
    ]
    told = redact_command(shlex.join(words))
    assert "client" not in told
    assert shlex.split(told) == [
        *("fairrec", "audit", "recs.csv", "--users=u.csv", "--load", "own.py", "--by", "a,b"),
        *("--endpoint", "http://host/../v2", "--title", "", "--quiet"),
    ]


def test_a_command_without_paths_is_told_as_it_was_typed():
    for command in ("fairrec audit a.csv --by 'age:10'", 'fairrec.audit(by=["it\'s"])'):
        assert redact_command(command) == command
