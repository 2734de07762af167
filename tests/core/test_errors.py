from __future__ import annotations

import pytest

from fairrec.core.errors import (
    LONGEST_TEXT,
    MOST_NAMES,
    list_some,
    listed,
    plain,
    unknown_name,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a b", "a b"),
        ("a\tb\r\n", r"a\tb\r\n"),
        ("\x1b[31mred", r"\x1b[31mred"),
        # turns the direction of what follows
        ("\u202eabc", r"\u202eabc"),
        ("naïve", "naïve"),
        # a family, a flag of two parts, a Persian and an Indic word
        ("👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"),
        ("🏳\ufe0f\u200d🌈", "🏳\ufe0f\u200d🌈"),
        ("می\u200cشود", "می\u200cشود"),
        ("क\u094d\u200dष", "क\u094d\u200dष"),
        # what joins nothing would make two texts look alike
        ("a\u200db", r"a\u200db"),
        ("\u200d", r"\u200d"),
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
    assert list_some(["a"]) == "'a'"
    assert list_some(["a", "b", "c"]) == "'a', 'b', 'c'"
    assert list_some(["a", "b"], total=1_002) == "'a', 'b' and 1,000 more"
    assert list_some(["a\n"]) == r"'a\n'"
