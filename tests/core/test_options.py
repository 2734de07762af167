from __future__ import annotations

import inspect
import pickle
import re
from dataclasses import fields, replace
from typing import Annotated

import polars as pl
import pytest
from pydantic import Field

import fairrec
from fairrec.core.audit_options import AuditOptions, Engine, Statistics
from fairrec.core.errors import (
    InputError,
    UnknownNameError,
)
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
    spell_in,
    spelled_for,
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
    assert spell(name, value) == python
    with spelled_for(None):
        assert spell(name, value) == flags


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


USERS = pl.DataFrame({"user_id": range(40), "plan": ["free", "paid"] * 20})
VALUES = pl.DataFrame({"user_id": range(40), "clicks": [0.0, 1.0] * 20})


@pytest.mark.parametrize(
    ("name", "value", "command", "words"),
    [
        ("permutations", 19, "fairrec.audit(r)", "statistics=fairrec.Statistics(permutations=19)"),
        ("columns", {"a": "b"}, "fairrec.count(r)", "tables=fairrec.Tables(columns={'a': 'b'})"),
        ("columns", {"a": "b"}, "fairrec.rerank(r)", "columns={'a': 'b'}"),
        (
            "features",
            "users:age",
            "fairrec.audit(r)",
            "scorer=fairrec.Endpoint(features='users:age')",
        ),
        ("ledger", "a.db", "fairrec.audit(r)", "search=fairrec.Search(ledger='a.db')"),
        ("ledger", "a.db", "fairrec.counterfactual(r)", "sample=fairrec.Sample(ledger='a.db')"),
        ("engine", "ray", "fairrec.audit(r)", "engine=fairrec.Engine(engine='ray')"),
        ("by", ["plan"], "fairrec.audit(r)", "by=['plan']"),
        ("permutations", 19, "fairrec audit r", "--permutations 19"),
    ],
)
def test_an_option_is_spelled_as_the_function_takes_it(name, value, command, words):
    assert spell_in(command, name, value) == words


def test_an_error_of_a_function_spells_options_as_that_function_takes_them():
    with pytest.raises(InputError, match=r"map it: tables=fairrec\.Tables\(columns=\{'item_id'"):
        fairrec.audit(VALUES, users=USERS, by="plan")
    with pytest.raises(InputError, match=r"^address='a' is .* Add engine='ray'"):
        Engine(address="a")


@pytest.mark.parametrize(
    ("function", "given", "meant"),
    [
        (fairrec.audit, "permutations", "statistics=fairrec.Statistics(permutations=...)"),
        (fairrec.count, "columns", "tables=fairrec.Tables(columns=...)"),
        (fairrec.mitigate, "threads", "engine=fairrec.Engine(threads=...)"),
        (fairrec.counterfactual, "budget_user", "sample=fairrec.Sample(budget_users=...)"),
        (fairrec.audit, "metric", "metrics=..."),
        (fairrec.audit, "random_state", "seed=..."),
        (fairrec.audit, "zzz", None),
    ],
)
def test_an_argument_that_a_function_does_not_take_gets_a_hint(function, given, meant):
    with pytest.raises(TypeError) as caught:
        function(**{given: 3})
    hint = f" Did you mean {meant}?" if meant else ""
    assert str(caught.value) == (
        f"{function.__name__}() got an unexpected keyword argument {given!r}.{hint}"
    )


def test_an_option_given_to_the_wrong_value_is_told_its_own():
    with pytest.raises(UnknownNameError, match=r"It is one of fairrec\.Tables\.$"):
        Statistics(columns="user_id=uid")
    with pytest.raises(UnknownNameError, match=r"'metrics'\. Did you mean 'metric'"):
        fairrec.trend(["a", "b"], metrics="v")


@pytest.mark.parametrize(
    ("call", "option"),
    [
        (
            lambda: fairrec.count(tables=fairrec.Tables(against_lists="a.csv")),
            "Tables(against_lists",
        ),
        (lambda: fairrec.count(tables=fairrec.Tables(unit="maker", side="items")), "Tables(side"),
        (
            lambda: fairrec.mitigate(
                "a.csv", metric="urd@5", users="u", by="a", statistics=Statistics(top=3)
            ),
            "Statistics(top",
        ),
        (
            lambda: fairrec.mitigate("a", metric="urd@5", users="u", by="a", engine=Engine("ray")),
            "Engine(engine",
        ),
        (
            lambda: fairrec.counterfactual(attribute="a", about=fairrec.About(settings="f")),
            "About(settings",
        ),
        (lambda: fairrec.plan(engine=Engine(workers=2)), "workers"),
    ],
)
def test_a_grouped_option_that_a_function_has_no_use_for_is_refused(call, option):
    with pytest.raises(InputError, match=rf"{re.escape(option)}=\.\.\.\)? has no effect here"):
        call()


NEEDED = {"metric": "ndcg@5", "users": "users.csv", "by": "plan", "attribute": "plan"}


@pytest.mark.parametrize("value", [{"permutations": 9}, 3])
@pytest.mark.parametrize(
    ("function", "group"),
    [
        *((fairrec.plan, group) for group in ("statistics", "tables", "engine")),
        *(
            (function, group)
            for function in PUBLIC
            for group in ("statistics", "tables", "engine", "about", "sample", "search")
            if group in inspect.signature(function).parameters
        ),
    ],
)
def test_a_grouped_value_of_another_type_is_refused(function, group, value):
    taken = inspect.signature(function).parameters
    given = {name: one for name, one in NEEDED.items() if name in taken}
    given |= {"predictions": "recs.csv"} if "predictions" in taken else {}
    with pytest.raises(InputError, match=rf"invalid {group}: expected .*{group.title()}\(\.\.\.\)"):
        function(**given, **{group: value})
