from __future__ import annotations

import pytest

from fairrec.core import errors
from fairrec.core.errors import (
    LONGEST_TEXT,
    MOST_NAMES,
    FairRecError,
    as_unicode,
    listed,
    plain,
    some_of,
    unknown_name,
)


def test_every_error_is_one_of_ours_and_a_built_in_one():
    ours = [
        error
        for error in vars(errors).values()
        if isinstance(error, type) and issubclass(error, FairRecError) and error is not FairRecError
    ]
    assert len(ours) >= 5
    for error in ours:
        assert issubclass(error, (ValueError, RuntimeError, OSError)), error


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a b", "a b"),
        ("a\tb\r\n", r"a\tb\r\n"),
        ("\x1b[31mred", r"\x1b[31mred"),
        # turns the direction of what follows
        ("\u202eabc", r"\u202eabc"),
        ("naïve", "naïve"),
        (17, "17"),
    ],
)
def test_outside_text_cannot_steer_a_terminal(text, shown):
    assert plain(text) == shown


def test_long_text_is_cut():
    assert plain("x" * LONGEST_TEXT) == "x" * LONGEST_TEXT
    assert plain("x" * 1_000) == "x" * (LONGEST_TEXT - 1) + "…"


def test_very_many_names_are_counted():
    assert listed(range(MOST_NAMES)).endswith(f"{MOST_NAMES - 1}")
    assert listed(range(MOST_NAMES + 1_234)).endswith(f"{MOST_NAMES - 1} and 1,234 more")


def test_an_unknown_name_gets_the_nearest_in_any_case_or_none():
    assert "Did you mean 'NDCG'?" in str(unknown_name("metric", "ndgc", ["NDCG", "mrr"]))
    assert "Did you mean" not in str(unknown_name("metric", "zzzzz", ["ndcg", "mrr"]))


def test_offenders_are_shown_with_their_total():
    assert some_of(["a"]) == "'a'"
    assert some_of(["a", "b", "c"]) == "'a', 'b', 'c'"
    assert some_of(["a", "b"], total=1_002) == "'a', 'b' and 1,000 more"
    assert some_of(["a\n"]) == r"'a\n'"


def test_text_that_is_not_unicode_is_escaped():
    assert as_unicode("caf\udce9") == r"caf\udce9"
    assert as_unicode("café") == "café"
