"""Options that are declared beside their stage, as parameters of a command."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from inspect import Parameter
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core
from typer.models import ArgumentInfo

from fairrec.cli.exit_codes import errors_in_words
from fairrec.cli.shared import ended_with_reader, shown_complaints
from fairrec.core.errors import TWINS
from fairrec.core.options import (
    OUTPUT,
    Option,
    Options,
    declared,
    defaults,
    from_command_line,
    spelled,
)

Given = dict[str, Any]
"""The options of a class that were given, by name, ready to make it of."""
Command = Callable[..., None]


@dataclass(frozen=True, slots=True)
class FieldsOf:
    """The options of a class as options of a command; the command gets those that were given.

    Parameters
    ----------
    without : fields that the command does not offer
    default : how a default is said
    panels : headings other than those declared, by name
    """

    options: type[Options]
    without: tuple[str, ...] = ()
    default: str = "{}"
    panels: Mapping[str, str] = field(default_factory=dict)

    def flags(self) -> Iterator[tuple[str, Option, object]]:
        """Name, option and default in words of each."""
        fixed = defaults(self.options)
        for name, option in declared(self.options).items():
            if name not in self.without:
                said: object = Parameter.empty
                if name in fixed:
                    words = _in_words(option, fixed[name])
                    said = words and self.default.format(words)
                yield name, replace(option, panel=self.panels.get(name, option.panel)), said


@dataclass(frozen=True, slots=True)
class Here:
    """What is said of an option in one command, where it is not what is declared.

    Parameters
    ----------
    panel : the heading
    default : how a default in words is said
    """

    panel: str | None = None
    default: str = "{}"


def takes_options(command: Command) -> Command:
    """The command as typer reads it, with errors in words.

    A parameter annotated with `FieldsOf` stands for all options of that class, one annotated with
    an `Option` for that option, of which `Here` may say something else; arguments and plain
    switches are typer's.
    """
    parameters: list[Parameter] = []
    fields: dict[str, FieldsOf] = {}
    single: dict[str, tuple[Option, object]] = {}
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        name = parameter.name
        mark = _mark(parameter.annotation)
        if isinstance(mark, FieldsOf):
            fields[name] = mark
            parameters += [_parameter(*flag) for flag in mark.flags()]
        elif isinstance(mark, Option):
            single[name] = mark, parameter.default
            is_needed = parameter.default is Parameter.empty
            said = Parameter.empty if is_needed else _in_words(mark, parameter.default)
            parameters.append(_parameter(name, mark, said))
        else:
            if isinstance(mark, ArgumentInfo):
                mark.metavar = name.upper()
            parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY))

    def run(**values: Any) -> None:
        with errors_in_words(bool(values.get("debug"))), from_command_line():
            for name, (option, default) in single.items():
                values |= {name: default, **_given({name: option}, values)}
            for name, mark in fields.items():
                wanted = {flag: option for flag, option, _ in mark.flags()}
                values[name] = _given(wanted, values)
            if values.get("log") is not None:
                from fairrec.result.folder import refuse_overwriting

                others = [part for name, part in values.items() if name != "log"]
                refuse_overwriting("log", values["log"], _parts(others))
            command(**values)

    run.__doc__, run.__name__ = command.__doc__, command.__name__
    # typer reads these
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def _parts(values: object) -> Iterator[object]:
    """The values in lists and tables."""
    if isinstance(values, Mapping):
        values = list(values.values())
    if isinstance(values, list | tuple):
        for value in values:
            yield from _parts(value)
    else:
        yield values


_NAMES = frozenset({"--by", "--given", "--metrics", "--metric", "--by-items"})
"""Flags with names behind them."""


def _exists(word: str) -> bool:
    try:
        return Path(word).exists()
    except OSError:
        # longer than a name of a file may be
        return False


def _is_name(word: str) -> bool:
    """Whether it may be one more name, and is no flag and no file."""
    return not word.startswith("-") and not Path(word).suffix and not _exists(word)


def _known_flag(word: str, known: set[str]) -> str:
    """`--metrics` for `--metric` where a command has it alone, and the other way round."""
    flag, equals, value = word.partition("=")
    twin = f"--{TWINS.get(flag.removeprefix('--'), '')}"
    return f"{twin}{equals}{value}" if twin in known and flag not in known else word


class SectionedCommand(typer.core.TyperCommand):
    """A command whose help has its options under headings, in plain text."""

    def make_context(self, *words: Any, **how: Any) -> Any:
        """Take the words of the command apart, as `TyperCommand` does."""
        with ended_with_reader(), shown_complaints():
            return super().make_context(*words, **how)

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Read the words: a flag by its twin too, and names with blanks between them refused."""
        known = {flag for parameter in self.params for flag in parameter.opts}
        words = [_known_flag(word, known) for word in args]
        for at, flag in enumerate(words):
            names = [*takewhile(_is_name, words[at + 1 :])] if flag in _NAMES & known else []
            if len(names) > 1:
                joined = ",".join(name.strip(",") for name in names)
                raise typer.BadParameter(f"{flag} takes names with commas: {flag} {joined}")
        return super().parse_args(ctx, words)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options by heading."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            name, about = record
            if parameter.required:
                about = f"{about.removesuffix('[required]').rstrip()} Required."
            panel = getattr(parameter, "rich_help_panel", None) or "Options"
            if parameter.param_type_name == "argument":
                # some versions of typer add the type
                panel, name = "Arguments", name.partition(" <")[0]
            elif parameter.name == "help" and OUTPUT in sections:
                panel = OUTPUT
            sections.setdefault(panel, []).append((name, about))
        for panel, records in sections.items():
            with formatter.section(panel):
                formatter.write_dl(records)


def _mark(annotation: Any) -> object:
    """What makes it an option or an argument of the command."""
    marks = getattr(annotation, "__metadata__", ())
    found = next((one for one in marks if isinstance(one, FieldsOf | Option | ArgumentInfo)), None)
    for mark in marks:
        if isinstance(found, Option) and isinstance(mark, Here):
            panel = found.panel if mark.panel is None else mark.panel
            default = found.default and mark.default.format(found.default)
            found = replace(found, panel=panel, default=default)
    return found


def _parameter(name: str, option: Option, default: object) -> Parameter:
    """One option for typer: text, which the option itself reads.

    Parameters
    ----------
    default : in words, and empty where one must be given
    """
    with from_command_line():
        flag = spelled(name)
    is_needed = default is Parameter.empty
    about = f"{option.help}." + ("" if is_needed or not default else f" Default: {default}.")
    kind = option.kind
    taken: Any = bool if kind.is_switch else list[str] if kind.is_list else str
    info = typer.Option(
        flag,
        help=about,
        rich_help_panel=option.panel or None,
        metavar=None if kind.is_switch else kind.metavar,
        show_default=False,
    )
    return Parameter(
        name,
        Parameter.KEYWORD_ONLY,
        default=Parameter.empty if is_needed else False if kind.is_switch else None,
        annotation=Annotated[taken if is_needed or kind.is_switch else taken | None, info],
    )


def _in_words(option: Option, default: object) -> str:
    if option.default:
        return option.default
    if isinstance(default, tuple):
        return ",".join(map(str, default))
    if default is None or default is False or isinstance(default, Mapping):
        return ""
    return f"{default:g}" if isinstance(default, float) else str(default)


def _given(options: Mapping[str, Option], values: dict[str, Any]) -> Given:
    """The values of these options, read, where they were given; they are taken out."""
    given = {}
    for name, option in options.items():
        value = values.pop(name)
        if value is None or value is False or value == []:
            continue
        is_joined = option.kind.is_list and option.kind.is_split
        given[name] = option.parsed(name, ",".join(value) if is_joined else value)
    return given
