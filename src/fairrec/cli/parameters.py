"""Option classes as parameters of typer commands."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from inspect import Parameter
from typing import Annotated, Any

import typer
from typer.models import ArgumentInfo

from fairrec.cli.exit_codes import errors_in_words
from fairrec.core.option_types import Switch
from fairrec.core.options import OUTPUT, Option, Options, bind, flag, list_defaults, list_options

Given = dict[str, Any]
"""The options that were given, as text by name, ready to make their class of."""
Command = Callable[..., None]
MANY = 25
"""With more options than this, help shows the common ones, and `--help-all` all."""
COMMON = {
    *("test", "values", "users", "items", "history", "columns", "by", "adjust_for", "depth"),
    *("min_support", "metrics", "permutations", "tolerance", "seed", "search", "scorer"),
    *("endpoint", "gate", "out", "format_", "quiet"),
    # of other commands
    *("attribute", "reference", "part", "levels", "pilot", "mean", "sd"),
    *("metric", "groups", "reranker", "strength", "max_loss"),
}
"""The options that are common in the commands that have them."""


@dataclass(frozen=True, slots=True)
class Flags:
    """The options of a class as flags of a command, which gets those that were given.

    Parameters
    ----------
    without : fields that the command does not offer
    default : how a default is worded
    """

    options: type[Options]
    without: tuple[str, ...] = ()
    default: str = "{}"

    def list(self) -> Iterator[tuple[str, Option, object]]:
        """Name, option and default in words of each, those that few need last."""
        defaults, options = list_defaults(self.options), list_options(self.options)
        own = inspect.get_annotations(self.options)
        for name in sorted(options, key=lambda name: (name not in COMMON, name not in own)):
            if name in self.without:
                continue
            words: object = Parameter.empty
            if name in defaults:
                words = describe_default(options[name], defaults[name])
                words = words and self.default.format(words)
            yield name, options[name], words


def typer_command(function: Command) -> Command:
    """The function as a typer command, with errors in words.

    A parameter annotated with `Flags` stands for all options of that class, one annotated with an
    `Option` for that option; arguments and plain switches are typer's. Every command gets
    `--debug`.
    """
    parameters: list[Parameter] = []
    groups: dict[str, dict[str, Option]] = {}
    single: dict[str, tuple[Option, Any]] = {}
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        name, marks = parameter.name, getattr(parameter.annotation, "__metadata__", ())
        flags = next((mark for mark in marks if isinstance(mark, Flags)), None)
        option = bind(parameter.annotation)
        if flags is not None:
            groups[name] = {one: option for one, option, _ in flags.list()}
            parameters += [_make_parameter(*one) for one in flags.list()]
        elif option is not None:
            single[name] = option, parameter.default
            is_needed = parameter.default is Parameter.empty
            words = parameter.default if is_needed else describe_default(option, parameter.default)
            parameters.append(_make_parameter(name, option, words))
        else:
            for mark in marks:
                if isinstance(mark, ArgumentInfo):
                    mark.metavar = name.upper()
            parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY))
    parameters.append(_make_parameter("debug", _DEBUG, False))
    if len(parameters) > MANY:
        parameters.append(_HELP_ALL)
    else:
        _unhide(mark for one in parameters for mark in getattr(one.annotation, "__metadata__", ()))

    def run(**values: Any) -> None:
        values.pop("help_all", None)
        with errors_in_words(values.pop("debug")):
            for name, (option, default) in single.items():
                given = _pop_given({name: option}, values)
                values[name] = option.parse(name, given[name]) if given else default
            for name, group in groups.items():
                values[name] = _pop_given(group, values)
            function(**values)

    run.__doc__, run.__name__ = function.__doc__, function.__name__
    # typer reads these
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def describe_default(option: Option, default: object) -> str:
    """A default in words; empty where there is none."""
    if option.default:
        return option.default
    if isinstance(default, tuple):
        return ",".join(map(str, default))
    if default is None or default is False or isinstance(default, Mapping):
        return ""
    return f"{default:g}" if isinstance(default, float) else str(default)


def _make_parameter(name: str, option: Option, default: object) -> Parameter:
    """One option for typer: text, which the option itself reads.

    Parameters
    ----------
    default : in words, and empty where one must be given
    """
    is_needed = default is Parameter.empty
    form = option.form
    accepted: Any = bool if form.is_switch else list[str] if form.is_list else str
    info = typer.Option(
        flag(name),
        help=f"{option.help}." + ("" if is_needed or not default else f" Default: {default}."),
        rich_help_panel=option.panel or None,
        metavar=None if form.is_switch else form.metavar,
        show_default=False,
        hidden=name not in COMMON,
    )
    return Parameter(
        name,
        Parameter.KEYWORD_ONLY,
        default=Parameter.empty if is_needed else False if form.is_switch else None,
        annotation=Annotated[accepted if is_needed or form.is_switch else accepted | None, info],
    )


def _pop_given(options: Mapping[str, Option], values: dict[str, Any]) -> Given:
    """The values of these options as text, where they were given; they are taken out."""
    given = {}
    for name, option in options.items():
        value = values.pop(name)
        if value is None or value is False or value == []:
            continue
        is_joined = option.form.is_list and option.form.is_split
        given[name] = ",".join(value) if is_joined else value
    return given


def _unhide(parameters: Iterable[Any]) -> None:
    for parameter in parameters:
        parameter.hidden = False


def show_all(command: Any) -> None:
    """Have the help of a command list also what few need."""
    _unhide(command.params)


def _help_all(context: typer.Context, value: bool) -> None:
    if value:
        show_all(context.command)
        typer.echo(context.get_help())
        raise typer.Exit


_DEBUG = Option("Show where an error came from", OUTPUT, hint=Switch)
_HELP_ALL = Parameter(
    "help_all",
    Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[
        bool,
        typer.Option(
            "--help-all",
            is_eager=True,
            callback=_help_all,
            help="Show all options.",
            rich_help_panel=OUTPUT,
        ),
    ],
)
