from __future__ import annotations

import inspect
import pickle
from dataclasses import fields, replace
from typing import Annotated

import polars as pl
import pytest
from pydantic import Field

import fairrec
from fairrec.core.audit_options import AuditOptions, Engine, Statistics
from fairrec.core.errors import InputError, UnknownNameError, as_flags, as_python
from fairrec.core.option_types import Form, Pairs, Whole
from fairrec.core.options import (
    Blank,
    Option,
    documented,
    list_changed,
    list_defaults,
    list_options,
    options,
    spell,
)
from fairrec.counterfactuals.options import CounterfactualOptions
from fairrec.inputs.table_options import TableOptions
from fairrec.mitigation.options import MitigationOptions
from fairrec.search.options import Search
from tests.grouped_options import on_command_line

Days = Annotated[Whole, Field(ge=1), Option("How long")]


@options
class Trip:
    """A trip."""

    n_days: Days = 3
    packed: Annotated[
        Annotated[dict[str, Whole], Pairs, Form("thing=n", is_list=True)] | None, Option("Bags")
    ] = None
    note: str = ""

    def __post_init__(self) -> None:
        if self.n_days > 9 and not self.packed:
            raise InputError(f"{spell('n_days', self.n_days)} needs {spell('packed')}.")


@options
class Flight(Trip):
    """A flight."""

    seat: Annotated[Whole | None, Option("Row", default="one")] = None


def test_values_are_read_when_the_options_are_made_and_when_they_are_replaced():
    trip = Trip(n_days="2", packed="box=1")
    assert trip == Trip(2, {"box": 1})
    assert replace(trip, n_days=4.0) == Trip(4, {"box": 1})
    assert pickle.loads(pickle.dumps(trip)) == trip


@pytest.mark.parametrize(
    ("given", "python", "flags"),
    [
        ({"n_days": -3}, "n_days: expected a whole number from 1, got -3", None),
        ({"n_days": "many"}, "n_days: expected .*, got 'many'", "--days: expected .*, got many"),
        ({"packed": "box=1,bag"}, "packed: expected thing=n, got 'bag'", None),
        ({"packed": {"box": "x"}}, "packed: expected thing=n, got 'box=x'", None),
        ({"n_days": "\x1b[31m2"}, r"n_days: .* got '\\x1b\[31m2'", r"--days: .*\\x1b\[31m2"),
    ],
)
def test_an_error_says_the_option_what_it_takes_and_what_it_got(given, python, flags):
    with pytest.raises(InputError, match=f"^invalid {python}$"):
        Trip(**given)
    with pytest.raises(InputError, match=f"^invalid {flags or '--'}"), on_command_line():
        Trip(**given)


def test_values_that_do_not_go_together_are_refused_in_the_words_of_the_class():
    with pytest.raises(InputError, match=r"^n_days=10 needs packed\.$"):
        Trip(n_days=10)
    with pytest.raises(InputError, match=r"^--days 10 needs --packed\.$"), on_command_line():
        Trip(n_days=10)


def test_an_unknown_option_is_refused_with_the_nearest_one():
    with pytest.raises(UnknownNameError, match=r"No option 'ndays'\. Did you mean 'n_days'"):
        Trip(ndays=3)
    with pytest.raises(InputError, match="invalid engine: expected another value, got 3"):
        AuditOptions(engine=3)


def test_options_are_known_by_what_is_declared():
    assert [*list_options(Trip)] == ["n_days", "packed"]
    assert list_defaults(Trip) == {"n_days": 3, "packed": None, "note": ""}
    assert [field.name for field in fields(Trip)] == ["n_days", "packed", "note"]
    assert "    n_days : How long (a whole number from 1)" in Trip.__doc__.splitlines()


def test_the_options_of_a_base_are_options_too_and_a_default_in_words_is_told():
    assert [*list_options(Flight)] == ["n_days", "packed", "seat"]
    assert "    seat : Row (a whole number). Default: one" in Flight.__doc__.splitlines()
    with pytest.raises(InputError, match="invalid n_days"):
        Flight(n_days=0)


def test_a_docstring_is_filled_with_what_is_declared():
    @documented(Trip, pace=Annotated[Whole, Field(ge=1), Option("How fast")])
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


@pytest.mark.parametrize("kind", [Trip, Search, TableOptions, fairrec.Tables])
def test_a_signature_shows_plain_types(kind):
    assert "Annotated" not in str(inspect.signature(kind))


@pytest.mark.parametrize(
    ("name", "value", "python", "flags"),
    [
        ("n_days", None, "n_days", "--days"),
        ("by", ["a", "b"], "by=['a', 'b']", "--by a,b"),
        ("per_user", True, "per_user=True", "--per-user"),
        ("report", False, "report=False", "--no-report"),
        ("relevant", "rating>=4", "relevant='rating>=4'", "--relevant 'rating>=4'"),
        ("items", Blank("FILE"), "items=...", "--items FILE"),
        ("columns", {"label": Blank("NAME")}, "columns={'label': ...}", "--columns label=NAME"),
    ],
)
def test_an_option_is_spelled_for_python_and_for_the_command_line(name, value, python, flags):
    text = spell(name, value)
    assert (as_python(text), as_flags(text)) == (python, flags)
    assert str(InputError(f"Give {text}.")) == f"Give {python}."


def test_options_that_were_changed_are_told_from_those_that_say_the_same():
    table = pl.DataFrame({"user_id": [1]})
    said = TableOptions(users=table, by="age", missing_lists="zero", metrics="auc")
    assert {*list_changed(said)} == {"users", "by", "metrics"}


PUBLIC = (fairrec.audit, fairrec.count, fairrec.counterfactual, fairrec.mitigate)


@pytest.mark.parametrize("function", PUBLIC, ids=[one.__name__ for one in PUBLIC])
def test_a_function_takes_twenty_options_and_the_rest_as_values(function):
    taken = [*inspect.signature(function).parameters]
    assert len(taken) <= 22
    rare = {
        *list_options(Statistics),
        *list_options(fairrec.Tables),
        *list_options(Engine).keys() - {"engine"},
        *list_options(fairrec.About),
    }
    assert not rare & {*taken}


@pytest.mark.parametrize(
    ("function", "classes", "without"),
    [
        (fairrec.audit, (AuditOptions, TableOptions), ()),
        (fairrec.counterfactual, (AuditOptions, CounterfactualOptions), ()),
        (fairrec.mitigate, (AuditOptions, MitigationOptions), ("tolerance",)),
    ],
)
def test_a_conductor_takes_every_option_that_it_reads_from_its_call(function, classes, without):
    taken = {*inspect.signature(function).parameters}
    for value in (Statistics, fairrec.Tables, fairrec.Sample):
        if value is not fairrec.Sample or "sample" in taken:
            taken |= {*list_options(value)}
    declared = [name for cls in classes for name in list_options(cls)]
    assert [name for name in declared if name not in taken] == [*without]
