from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from fairrec.cli.parameters import FieldsOf, Given, SectionedCommand, takes_options
from fairrec.cli.shared import DebugOption
from fairrec.core.errors import InputError
from fairrec.core.kinds import NAMES, SWITCH, TEXT, number, pairs, whole
from fairrec.core.options import Option, Options, spelled


@dataclass(frozen=True)
class Journey(Options):
    """A journey."""

    to: Annotated[str, Option(TEXT, "Where to", "Route")]
    n_days: Annotated[int, Option(whole(1, 99), "How long", "Route")] = 7
    through: Annotated[tuple[str, ...], Option(NAMES, "Stops", "Route")] = ("here", "there")
    speed: Annotated[float | None, Option(number(above=0).or_none(), "Speed", default="any")] = None
    packed: Annotated[dict[str, float], Option(pairs(float, "thing=weight"), "Bags")] = field(
        default_factory=dict
    )
    by_train: Annotated[bool, Option(SWITCH, "No car")] = False
    note: str = "not an option of a command"


SEEN: list[dict[str, Any]] = []


@takes_options
def travel(
    *,
    who: Annotated[str, typer.Argument(help="Traveller.")],
    journey: Annotated[Given, FieldsOf(Journey, without=("speed",))],
    pace: Annotated[float | None, Option(number(above=0), "Steps a second")] = 1.5,
    debug: DebugOption = False,
) -> None:
    """Travel."""
    SEEN.append({"who": who, "journey": Journey(**journey), "pace": pace})
    if who == "nobody":
        raise InputError(f"Nobody cannot travel. Leave out {spelled('n_days')}.")


app = typer.Typer(rich_markup_mode=None, add_completion=False)
app.command("travel", cls=SectionedCommand)(travel)


def run(*arguments: str):
    SEEN.clear()
    return CliRunner().invoke(app, arguments)


def test_a_command_gets_the_options_of_a_class_that_were_given():
    assert run("me", "--to", "sea").exit_code == 0
    assert [{"who": "me", "journey": Journey("sea"), "pace": 1.5}] == SEEN
    run("me", "--to", "sea", "--days", "2", "--by-train", "--pace", "2")
    assert [{"who": "me", "journey": Journey("sea", 2, by_train=True), "pace": 2.0}] == SEEN


@pytest.mark.parametrize("stops", [("a,b",), ("a", "b")])
@pytest.mark.parametrize("bags", [("box=2,bag=3",), ("box=2", "bag=3")])
def test_lists_are_repeated_or_joined_by_commas_alike(stops, bags):
    many = [f"--through={stop}" for stop in stops] + [f"--packed={bag}" for bag in bags]
    assert run("me", "--to", "sea", *many).exit_code == 0
    journey = SEEN[0]["journey"]
    assert (journey.through, journey.packed) == (("a", "b"), {"box": 2.0, "bag": 3.0})


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--days", "0"), "invalid --days: expected a whole number from 1 to 99, got 0"),
        (("--packed", "box=2,bag"), "invalid --packed: expected thing=weight, got bag"),
        (("--packed", "box=x"), "invalid --packed: expected thing=weight, got box=x"),
        (("--packed", "box=1,box=2"), "invalid --packed: expected thing=weight, got box=2"),
        (("--pace", "0"), "invalid --pace: expected a number above 0, got 0"),
    ],
)
def test_what_does_not_fit_is_an_error_in_words(arguments, says):
    ran = run("me", "--to", "sea", *arguments)
    assert (ran.exit_code, ran.stdout, ran.stderr) == (2, "", f"InputError: {says}\n")
    with pytest.raises(InputError, match="invalid"):
        raise run("me", "--to", "sea", *arguments, "--debug").exception


def test_errors_of_the_command_itself_are_said_in_words_too():
    ran = run("nobody", "--to", "sea")
    assert ran.exit_code == 2
    assert ran.stderr == "InputError: Nobody cannot travel. Leave out --days.\n"
    # and only while a command runs
    assert spelled("n_days") == "n_days"


def test_help_says_what_is_declared_under_its_headings():
    words = " ".join(run("--help").stdout.split())
    assert "Route: --to TEXT Where to. [required]" in words
    assert "--days N How long. Default: 7." in words
    assert "--through NAMES Stops. Default: here,there." in words
    assert "--by-train No car. --pace NUMBER Steps a second. Default: 1.5." in words
    assert "--speed" not in words and "--note" not in words


def test_an_option_without_default_is_asked_for():
    ran = run("me")
    assert ran.exit_code == 2
    assert "Missing option '--to'" in ran.stderr
