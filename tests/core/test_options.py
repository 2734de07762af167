from __future__ import annotations

import inspect
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from typing import Annotated

import polars as pl
import pytest

import fairrec
from fairrec.auditing.options import CounterfactualOptions
from fairrec.core.audit_options import AboutOptions, AuditOptions
from fairrec.core.errors import InputError
from fairrec.core.kinds import pairs, whole
from fairrec.core.options import (
    Blank,
    Option,
    Options,
    changed,
    declared,
    defaults,
    documented,
    from_command_line,
    spelled,
)
from fairrec.counts.options import EngineOptions
from fairrec.inputs.table_options import TableOptions
from fairrec.mitigation.options import MitigationOptions
from fairrec.search.options import SearchOptions


@dataclass(frozen=True)
class Trip(Options):
    """A trip."""

    n_days: Annotated[int, Option(whole(1), "How long")] = 3
    packed: Annotated[dict[str, int] | None, Option(pairs(int, "thing=n").or_none(), "Bags")] = None
    note: str = ""

    def check(self) -> None:
        if self.n_days > 9 and not self.packed:
            raise InputError(f"{spelled('n_days', self.n_days)} needs {spelled('packed')}.")


def test_values_are_read_when_the_options_are_made_and_when_they_are_replaced():
    trip = Trip.of(n_days="2", packed="box=1")
    assert trip == Trip(2, {"box": 1})
    assert replace(trip, n_days=4.0) == Trip(4, {"box": 1})


def test_an_error_says_the_option_what_it_takes_and_what_it_got():
    with pytest.raises(InputError) as caught:
        Trip(n_days=-3)
    assert str(caught.value) == "invalid n_days: expected a whole number from 1, got -3"
    with pytest.raises(InputError) as caught:
        Trip.of(packed="box=1,bag")
    assert str(caught.value) == "invalid packed: expected thing=n, got 'bag'"


def test_options_are_spelled_as_on_the_way_in():
    with pytest.raises(InputError, match=r"^n_days=10 needs packed\.$"):
        Trip(n_days=10)
    with from_command_line():
        with pytest.raises(InputError, match=r"^--days 10 needs --packed\.$"):
            Trip(n_days=10)
        with pytest.raises(InputError, match=r"^invalid --days: expected .*, got many$"):
            Trip.of(n_days="many")
        # errors are worded in worker threads too
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(spelled, "n_days").result() == "--days"
        assert spelled("by", ["a", "b"]) == "--by a,b"
        assert spelled("per_user", True) == "--per-user"
    assert spelled("by", ["a", "b"]) == "by=['a', 'b']"
    assert spelled("per_user", True) == "per_user=True"


def test_what_a_terminal_would_act_on_is_escaped():
    with pytest.raises(InputError) as caught, from_command_line():
        Trip.of(n_days="\x1b[31m2")
    assert "\x1b" not in str(caught.value)


def test_options_are_known_by_what_is_declared():
    assert [*declared(Trip)] == ["n_days", "packed"]
    assert defaults(Trip) == {"n_days": 3, "packed": None, "note": ""}
    assert [field.name for field in fields(Trip)] == ["n_days", "packed", "note"]
    assert "    n_days : How long (a whole number from 1)" in Trip.__doc__.splitlines()


def test_a_docstring_is_filled_with_what_is_declared():
    @documented(Trip, pace=Annotated[int, Option(whole(1), "How fast")])
    def travel(n_days: int = Trip.n_days, packed: object = None, pace: int = 1) -> None:
        """Travel.

        Parameters
        ----------
        n_days, packed : see Trip
        pace : as declared
        """

    lines = [line.strip() for line in travel.__doc__.splitlines()]
    assert "n_days : How long (a whole number from 1)" in lines
    assert "packed : Bags (thing=n)" in lines
    assert "pace : How fast (a whole number from 1)" in lines


def test_a_signature_shows_plain_types():
    assert str(inspect.signature(Trip)) == (
        "(n_days: int = 3, packed: dict[str, int] | None = None, note: str = '') -> None"
    )
    assert "Annotated" not in str(inspect.signature(SearchOptions))


def test_the_options_of_a_base_are_options_too():
    @dataclass(frozen=True)
    class Flight(Trip):
        """A flight."""

        seat: Annotated[int, Option(whole(1), "Row")] = 1

    assert [*declared(Flight)] == ["n_days", "packed", "seat"]
    with pytest.raises(InputError, match="invalid n_days"):
        Flight(n_days=0)


def test_a_docstring_says_a_default_that_is_no_value():
    @dataclass(frozen=True)
    class Stay(Options):
        """A stay."""

        nights: Annotated[int | None, Option(whole(1).or_none(), "How long", default="one")] = None

    assert (
        "    nights : How long (a whole number from 1). Default: one" in Stay.__doc__.splitlines()
    )


def test_what_the_reader_fills_in_is_a_word_on_the_command_line_and_dots_from_python():
    blanks = {"items": Blank("FILE"), "columns": {"label": Blank("NAME")}}
    written = [spelled(name, value) for name, value in blanks.items()]
    assert written == ["items=...", "columns={'label': ...}"]
    with from_command_line():
        written = [spelled(name, value) for name, value in blanks.items()]
    assert written == ["--items FILE", "--columns label=NAME"]


def test_a_switch_that_is_off_is_spelled_as_such():
    assert spelled("report", False) == "report=False"
    with from_command_line():
        assert spelled("report", False) == "--no-report"


def test_commands_that_overlap_in_threads_leave_no_trace():
    first, second = from_command_line(), from_command_line()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert spelled("n_days") == "--days"
    second.__exit__(None, None, None)
    assert spelled("n_days") == "n_days"


def test_options_that_were_changed_are_told_from_those_that_say_the_same():
    table = pl.DataFrame({"user_id": [1]})
    said = TableOptions.of(users=table, by="age", missing_lists="zero", metrics="auc")
    assert [*changed(said)] == ["users", "by", "metrics"]


def test_a_call_names_an_option_once_in_its_signature():
    def walk(n_days: int = 2, shoes: str = "old") -> Trip:
        return Trip.among(locals())

    assert walk() == Trip(n_days=2)
    with pytest.raises(InputError, match="n_days"):
        walk(n_days=-1)


@pytest.mark.parametrize(
    ("function", "options", "without"),
    [
        (fairrec.audit, (AuditOptions, AboutOptions, TableOptions, EngineOptions), ()),
        (
            fairrec.counterfactual,
            (AuditOptions, AboutOptions, CounterfactualOptions),
            (),
        ),
        (
            fairrec.mitigate,
            (AuditOptions, AboutOptions, MitigationOptions),
            ("tolerance", "max_undefined", "top"),
        ),
    ],
)
def test_a_conductor_takes_every_option_that_it_reads_from_its_call(function, options, without):
    taken = inspect.signature(function).parameters
    declared_ = [name for one in options for name in declared(one)]
    assert [name for name in declared_ if name not in taken] == [*without]
