from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

import fairrec
from fairrec.cli.parameters import FieldsOf, Given, Here, SectionedCommand, takes_options
from fairrec.cli.shared import DebugOption
from fairrec.commands import app as fairrec_app
from fairrec.core.errors import InputError
from fairrec.core.kinds import NAMES, SWITCH, TEXT, number, pairs, whole
from fairrec.core.options import Option, Options, spelled
from fairrec.scoring.protocols import PROTOCOLS

Place = Annotated[str, Option(TEXT, "Where", "Route", default="here")]


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
    assert "Arguments: WHO Traveller. Required." in words
    assert "Route: --to TEXT Where to. Required." in words
    assert "--days N How long. Default: 7." in words
    assert "--through NAMES Stops. Default: here,there." in words
    assert "--by-train No car. --pace NUMBER Steps a second. Default: 1.5." in words
    assert "--speed" not in words and "--note" not in words


def test_an_option_without_default_is_asked_for():
    ran = run("me")
    assert ran.exit_code == 2
    assert "Missing option '--to'" in ran.stderr


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
        ("audit", "Model", f"--protocol {'|'.join(PROTOCOLS)} "),
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


def test_the_heading_and_the_default_of_an_option_may_be_others_in_a_command():
    @takes_options
    def rest(
        *,
        journey: Annotated[Given, FieldsOf(Journey, panels={"n_days": "Rest"})],
        place: Annotated[Place, Here("Rest", default="home, or {}")] = "",
        debug: DebugOption = False,
    ) -> None:
        """Rest."""

    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command("rest", cls=SectionedCommand)(rest)
    words = " ".join(CliRunner().invoke(app, ["--help"]).stdout.split())
    assert (
        "Rest: --days N How long. Default: 7. --place TEXT Where. Default: home, or here." in words
    )


@pytest.mark.parametrize(
    "names", [("gender", "age"), ("gender,", "age"), ("gender", "age", "country")]
)
@pytest.mark.parametrize("flag", ["--by", "--metric"])
def test_names_with_blanks_between_them_are_told_the_comma(flag, names):
    refused = CliRunner().invoke(fairrec_app, ["audit", "--values", "v.csv", flag, *names])
    assert refused.exit_code == 2
    joined = ",".join(name.strip(",") for name in names)
    assert f"{flag.replace('c', 'cs') if flag == '--metric' else flag} {joined}" in " ".join(
        refused.stderr.replace("\u2502", " ").split()
    )


@pytest.mark.parametrize(
    ("words", "reached"),
    [
        (
            ["audit", "--metric", "v", "--values", "none.csv", "--by", "g", "--users=u.csv"],
            "none.csv",
        ),
        (["audit", "--metric=v", "--values", "none.csv", "--by", "g", "--users=u.csv"], "none.csv"),
        (["trend", "none", "also", "--metrics", "v"], "none"),
    ],
)
def test_metric_and_metrics_are_both_understood(words, reached):
    refused = CliRunner().invoke(fairrec_app, words)
    assert reached in refused.stderr and "No such option" not in refused.stderr


def test_python_hints_at_the_other_of_metric_and_metrics():
    with pytest.raises(TypeError, match=r"'metric'\. Did you mean 'metrics'"):
        fairrec.audit(values="v.csv", metric="v")
    with pytest.raises(TypeError, match=r"'metrics'\. Did you mean 'metric'"):
        fairrec.trend(["a", "b"], metrics="v")
