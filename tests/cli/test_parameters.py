from __future__ import annotations

import re
from dataclasses import field
from typing import Annotated, Any

import pytest
import typer
from pydantic import Field
from typer.testing import CliRunner

from fairrec.cli.app import SectionedCommand
from fairrec.cli.parameters import Flags, Given, typer_command
from fairrec.commands import app as fairrec_app
from fairrec.core.errors import InputError
from fairrec.core.option_types import Form, Names, Number, Pairs, Switch, Whole
from fairrec.core.options import Option, options, spell
from fairrec.scoring.protocols import PROTOCOLS


@options
class Journey:
    """A journey."""

    to: Annotated[str, Option("Where to", "Route")]
    n_days: Annotated[Whole, Field(ge=1, le=99), Option("How long", "Route")] = 7
    through: Annotated[Names, Option("Stops", "Route")] = ("here", "there")
    speed: Annotated[Annotated[Number, Field(gt=0)] | None, Option("Speed", default="any")] = None
    packed: Annotated[
        dict[str, Number],
        Pairs,
        Form("thing=weight", "NAME=VALUE", is_list=True),
        Option("Bags"),
    ] = field(default_factory=dict)
    by_train: Annotated[Switch, Option("No car")] = False
    note: str = "not an option of a command"


SEEN: list[dict[str, Any]] = []


@typer_command
def travel(
    *,
    who: Annotated[str, typer.Argument(help="Traveller.")],
    journey: Annotated[Given, Flags(Journey, without=("speed",))],
    pace: Annotated[Number, Field(gt=0), Option("Steps a second")] = 1.5,
) -> None:
    """Travel."""
    SEEN.append({"who": who, "journey": Journey(**journey), "pace": pace})
    if who == "nobody":
        raise InputError(f"Nobody cannot travel. Leave out {spell('n_days')}.")


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


def test_help_says_what_is_declared_under_its_headings():
    words = " ".join(run("--help").stdout.split())
    assert "Arguments: WHO Traveller. Required." in words
    assert "Route: --to TEXT Where to. Required." in words
    assert "--days N How long. Default: 7." in words
    assert "--through NAMES Stops. Default: here,there." in words
    assert "--by-train No car. --pace NUMBER Steps a second. Default: 1.5." in words
    assert "--speed" not in words and "--note" not in words


def help_of(command: str) -> dict[str, str]:
    """The help of a command of FairRec: heading -> its text in one line."""
    text = CliRunner().invoke(fairrec_app, [command, "--help"]).stdout
    sections = re.split(r"^(\w[\w ]*):$", text, flags=re.MULTILINE)[1:]
    return {
        heading: " ".join(lines.split())
        for heading, lines in zip(sections[::2], sections[1::2], strict=True)
    }


COMMANDS = [str(command.name) for command in fairrec_app.registered_commands]


@pytest.mark.parametrize("command", COMMANDS)
def test_all_options_of_all_commands_have_one_look(command):
    for heading, text in help_of(command).items():
        for other in ("<", "[default", "[required]", "PATH"):
            assert other not in text, (heading, text)


@pytest.mark.parametrize(
    ("command", "heading", "text"),
    [
        ("demo", "Options", "--seed N"),
        ("doctor", "Model", f"--protocol {'|'.join(PROTOCOLS)} "),
        ("audit", "Model", "--scorer package.module:function "),
        ("audit", "Model", "--endpoint URL "),
        ("audit", "Search", "--search NAME "),
        ("audit", "Output", "--out FOLDER "),
        ("audit", "Output", "--format text|markdown|json What to print. Default: text."),
        ("demo", "Options", "--out FOLDER Folder for the tables and the audit. Default: fairrec-"),
        (
            "mitigate",
            "Statistics",
            "Default: the audit's, or, as the tables allow, auc, mrr, ndcg, urd",
        ),
    ],
)
def test_an_option_stands_under_a_fitting_heading_with_what_is_registered(command, heading, text):
    assert text in help_of(command)[heading]


def test_help_of_a_long_command_leaves_what_few_need_to_all():
    short, all_ = (
        CliRunner().invoke(fairrec_app, ["audit", how]).stdout for how in ("--help", "--help-all")
    )
    assert 18 <= len(re.findall(r"^  --", short, re.M)) <= 24
    for rare in ("--missing-lists", "--budget-users", "--junit", "--debug"):
        assert rare not in short and rare in all_
    few = CliRunner().invoke(fairrec_app, ["compare", "--help"]).stdout
    assert "--debug" in few and "--help-all" not in few


@pytest.mark.parametrize("names", [("gender", "age"), ("gender", "age", "country")])
def test_names_with_blanks_between_them_are_told_the_comma(names):
    refused = CliRunner().invoke(fairrec_app, ["audit", "--by", *names, "--values", "v.csv"])
    assert refused.exit_code == 2
    assert ("with commas: --by gender,age" in refused.stderr) == (len(names) > 2)


def test_a_flag_that_is_not_known_gets_a_hint_at_the_one_that_was_meant():
    refused = CliRunner().invoke(fairrec_app, ["audit", "a", "--min-suport", "3"])
    assert refused.exit_code == 2
    words = " ".join(refused.stderr.replace("\u2502", " ").split())
    assert "No such option: --min-suport" in words and "--min-support" in words
