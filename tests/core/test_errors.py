from __future__ import annotations

import polars as pl
import pytest
from safetensors import SafetensorError

import fairrec
from fairrec.core.audit_options import AuditOptions
from fairrec.core.errors import (
    LONGEST_TEXT,
    MOST_NAMES,
    FairRecError,
    InputError,
    UnexpectedError,
    errors_of_libraries,
    list_some,
    listed,
    plain,
    unknown_name,
)
from tests.builders import make_tables


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


class PanicException(BaseException):
    """As libraries in Rust raise it."""


@pytest.mark.parametrize(
    "error",
    [
        PanicException("at line 7\nhere"),
        pl.exceptions.PanicException("at line 7\nhere"),
        pl.exceptions.ComputeError("at line 7\nhere"),
        SafetensorError("at line 7\nhere"),
    ],
)
def test_what_a_library_raises_is_an_error_that_everybody_catches(error):
    @errors_of_libraries()
    def fail() -> None:
        raise error

    with pytest.raises(UnexpectedError, match=r"\(\w+: at line 7\\nhere\)") as raised:
        fail()
    assert isinstance(raised.value, Exception)
    assert raised.value.__cause__ is error


@pytest.mark.parametrize("error", [KeyboardInterrupt(), KeyError("a"), FairRecError("b")])
def test_other_errors_stay_what_they_are(error):
    @errors_of_libraries()
    def fail() -> None:
        raise error

    with pytest.raises(type(error)) as raised:
        fail()
    assert raised.value is error


def test_a_panic_within_an_audit_is_an_error_of_ours(monkeypatch):
    tables = make_tables()

    def fail(*_: object, **__: object) -> None:
        raise pl.exceptions.PanicException("index out of bounds")

    monkeypatch.setattr("fairrec.auditing.audit.build_grouping", fail)
    with pytest.raises(fairrec.FairRecError, match="index out of bounds"):
        fairrec.audit(tables.predictions, users=tables.users, by="gender")


def test_an_error_reads_the_same_in_all_ways_python_shows_it():
    with pytest.raises(InputError) as caught:
        AuditOptions(depth=0)
    text = str(caught.value)
    assert text.startswith("invalid depth: expected") and text == f"{caught.value}"
    assert "\x02" not in repr(caught.value) and text in repr(caught.value)
