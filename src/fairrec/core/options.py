"""Options, declared once: type, range, default and help.

An option is a field of a class made by `options`, a frozen pydantic dataclass: its type says what
it accepts, and an `Option` beside it the help. Python, the command line, settings files, docs and
errors all read it there.

An error names an option as its reader writes it. Whoever raises it calls `spell`, which holds both
spellings; the error shows that of Python, and the command line, which catches it, that of a flag.
"""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, replace
from functools import cache, cached_property, wraps
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar, get_args, get_type_hints

import pydantic
from pydantic import ConfigDict, TypeAdapter, ValidationError

from fairrec.core.errors import (
    FairRecError,
    InputError,
    as_flags,
    as_python,
    both_spellings,
    keep_spellings,
    plain,
    unknown_name,
)
from fairrec.core.option_types import Form, UnfitError, describe

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T", bound="Options")

TABLES = "Tables"
GROUPS = "Groups"
STATISTICS = "Statistics"
SEARCH = "Search"
MODEL = "Model"
PLANNING = "Plan and settings"
ENGINE = "Engine"
OUTPUT = "Output"

CONFIG = ConfigDict(extra="forbid", arbitrary_types_allowed=True)


@dataclass(frozen=True)
class Option:
    """What there is to say of an option beside its type and default.

    Parameters
    ----------
    help : what it means
    panel : the heading it stands under where a command has many
    default : the default in words, where it is no fixed value
    hint : its annotated type
    """

    help: str
    panel: str = ""
    default: str = ""
    hint: Any = str

    @cached_property
    def form(self) -> Form:
        """How its values are described and written."""
        return describe(self.hint)

    @property
    def expected(self) -> str:
        """Its values in words."""
        return self.form.expected

    def parse(self, name: str, value: object, file: str = "") -> Any:
        """The value; an error that names the option where it does not fit.

        Parameters
        ----------
        file : where it was read, if not given by the caller
        """
        try:
            return _adapter(self.hint).validate_python(value)
        except ValidationError as error:
            raise _explain(error, {name: self}, {name: value}, file) from error


_adapter = cache(lambda hint: TypeAdapter(hint, config=CONFIG))


def bind(hint: Any) -> Option | None:
    """The option that an annotated type declares, if it declares one.

    >>> bind(Annotated[int, Option("How many")])
    Option(help='How many', panel='', default='', hint=<class 'int'>)
    """
    marks = getattr(hint, "__metadata__", ())
    # the last one, by which a command may say something else of an option
    option = next((mark for mark in reversed(marks) if isinstance(mark, Option)), None)
    if option is None:
        return None
    others = tuple(mark for mark in marks if not isinstance(mark, Option))
    inner = get_args(hint)[0]
    return replace(option, hint=Annotated[(inner, *others)] if others else inner)


class Options:
    """Base of classes of options: they are made of values in any form that their types read."""

    _options: ClassVar[dict[str, Option]]

    if TYPE_CHECKING:
        __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

        def __init__(self, *values: Any, **given: Any) -> None: ...


def options(cls: type[T]) -> type[T]:
    """A frozen pydantic dataclass, whose fields with an `Option` are options and errors ours.

    >>> from fairrec.core.audit_options import AuditOptions
    >>> AuditOptions(min_support="1%", permutations=1e2).permutations
    100
    >>> AuditOptions(top=0)
    Traceback (most recent call last):
    fairrec.core.errors.InputError: invalid top: expected a whole number from 1 to 1,000, got 0
    """
    made: Any = pydantic.dataclasses.dataclass(frozen=True, config=CONFIG)(cls)
    validate, names = made.__init__, [field.name for field in fields(made)]

    @wraps(validate)
    def parse(self: Any, *args: Any, **given: Any) -> None:
        given = dict(zip(names, args, strict=False)) | given
        try:
            validate(self, **given)
        except ValidationError as error:
            raise _explain(error, list_options(made), given) from None
        object.__setattr__(self, "_given", frozenset(given))

    made.__init__ = parse
    hints = get_type_hints(made, include_extras=True)
    bound = {name: bind(hints[name]) for name in names}
    made._options = {name: option for name, option in bound.items() if option is not None}
    # the signature shows types, not declarations
    signature, types = inspect.signature(made), get_type_hints(made)
    made.__signature__ = signature.replace(
        parameters=[
            one.replace(annotation=types[one.name]) for one in signature.parameters.values()
        ]
    )
    title = "" if "Parameters\n" in (made.__doc__ or "") else "\n\n    Parameters\n    ----------"
    lines = [_describe(name, option, "    ") for name, option in list_options(made).items()]
    made.__doc__ = "\n".join([(made.__doc__ or "").rstrip() + title, *lines, "    "])
    return made  # type: ignore[no-any-return]


def list_options(cls: type[Options]) -> dict[str, Option]:
    """The options of a class by name; fields without an `Option` are none of them."""
    return cls._options


def list_defaults(cls: type[Options]) -> dict[str, Any]:
    """The default of each field that has one, by name."""
    found = {}
    for field in fields(cls):
        if field.default is not MISSING:
            found[field.name] = field.default
        elif field.default_factory is not MISSING:
            found[field.name] = field.default_factory()
    return found


def list_changed(options: Options) -> dict[str, Any]:
    """The fields that are not at their defaults, by name.

    >>> from fairrec.core.audit_options import AuditOptions
    >>> list_changed(AuditOptions(depth=2))
    {'depth': 2}
    """
    found = {}
    for name, default in list_defaults(type(options)).items():
        value = getattr(options, name)
        # tables are compared cell by cell, and no default is one
        if value is not default and not (isinstance(value, type(default)) and value == default):
            found[name] = value
    return found


def select(cls: type[Options], values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the values that are options of a class."""
    return {name: values[name] for name in list_options(cls) if name in values}


def expand(cls: type[Options], value: Any) -> dict[str, Any]:
    """The fields of a value of a class, by name; none for None."""
    if value is not None and not isinstance(value, cls):
        raise invalid(cls.__name__.lower(), f"{cls.__name__}(...)", value)
    return {} if value is None else {one.name: getattr(value, one.name) for one in fields(value)}


def list_given(options: Any) -> dict[str, Any]:
    """The fields that were given when it was made, whether or not at their defaults."""
    return {name: getattr(options, name) for name in options._given}


def _explain(
    error: ValidationError,
    known: Mapping[str, Option],
    given: Mapping[str, Any],
    file: str = "",
) -> FairRecError:
    """The error in our words: which option, what was expected, what was given."""
    errors = error.errors(include_url=False)
    causes = [one.get("ctx", {}).get("error") for one in errors]
    if ours := next((cause for cause in causes if isinstance(cause, FairRecError)), None):
        return InputError(f"{file}: {keep_spellings(ours)}") if file else ours
    first, place = errors[0], [*errors[0]["loc"]]
    name = next(iter(known)) if len(known) == 1 else str(place[0])
    if first["type"] in ("unexpected_keyword_argument", "extra_forbidden"):
        return unknown_name("option", str(place[0]), known)
    if name not in known:
        return invalid(name, first.get("ctx", {}).get("class", "another value"), given[name], file)
    if name not in given:
        return InputError(f"{spell(name)} is missing: {known[name].expected}.")
    unfit = next((cause for cause in causes if isinstance(cause, UnfitError)), None)
    got, why = (given[name], "") if unfit is None else (unfit.part, unfit.why)
    if unfit is None and known[name].form.is_list and first["input"] is not got:
        # a part of a mapping, or of a list
        key = place[-1]
        got = f"{key}={first['input']}" if isinstance(key, str) else first["input"]
    return invalid(name, known[name].expected, got, file, why)


def documented(*classes: type[Options], **single: Any) -> Callable[[F], F]:
    """Fill lines such as `depth, seed : see AuditOptions` of a docstring with what is declared.

    Parameters
    ----------
    single : options that are of no class, annotated types by name, for lines such as
        `depth, seed : as declared`
    """
    known: dict[str, Mapping[str, Option | None]] = {
        f"see {cls.__name__}": list_options(cls) for cls in classes
    }
    known["as declared"] = {name: bind(hint) for name, hint in single.items()}

    def fill_in(function: F) -> F:
        def write(line: re.Match[str]) -> str:
            options = known[line["options"]]
            names = [name.strip() for name in line["names"].split(",")]
            return "\n".join(_describe(name, options[name], line["indent"]) for name in names)

        function.__doc__ = re.sub(
            r"^(?P<indent> *)(?P<names>\w+(?:,\s+\w+)*) : (?P<options>see \w+|as declared)$",
            write,
            function.__doc__ or "",
            flags=re.MULTILINE,
        )
        return function

    return fill_in


def _describe(name: str, option: Option | None, indent: str) -> str:
    """A line or two of a docstring."""
    assert option is not None, name
    default = f". Default: {option.default}" if option.default else ""
    return fill(
        f"{name} : {option.help} ({option.expected}){default}",
        width=100,
        initial_indent=indent,
        subsequent_indent=f"{indent}    ",
        break_on_hyphens=False,
    )


class Blank(str):
    """A value that the reader fills in: its word on the command line, `...` from Python."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "..."


def flag(name: str) -> str:
    """The flag of an option: of a count without the `n_`, of a name without a last `_`.

    >>> flag("min_support"), flag("n_seeds"), flag("format_")
    ('--min-support', '--seeds', '--format')
    """
    return f"--{name.removeprefix('n_').rstrip('_').replace('_', '-')}"


def spell(name: str, value: object = None) -> str:
    """An option as the reader of an error would write it, with a value where one is given.

    A mapping is written as pairs, a sequence with commas, a switch without value, one that is off
    as `--no-report`. What the reader has to fill in is a `Blank`.

    >>> print(InputError(spell("min_support", 0.01)))
    min_support=0.01
    >>> print(as_flags(spell("min_support", 0.01)))
    --min-support 0.01
    >>> as_flags(spell("columns", {"label": Blank("NAME")})), as_flags(spell("report", False))
    ('--columns label=NAME', '--no-report')
    """
    python = name if value is None else f"{name}={plain(repr(value))}"
    return both_spellings(python, _spell_as_flag(name, value))


def spell_in(command: str, name: str, value: object = None) -> str:
    """An option as in the command that made a result, for the words about it.

    >>> spell_in("fairrec audit recs.csv", "depth", 2), spell_in("fairrec.audit(recs)", "depth", 2)
    ('--depth 2', 'depth=2')
    """
    return spell_as(command, spell(name, value))


def spell_as(command: str, text: str) -> str:
    """The text with options as in a command: of a shell, or a call of Python."""
    return as_python(text) if command.startswith("fairrec.") else as_flags(text)


def _spell_as_flag(name: str, value: object) -> str:
    if value is None or value is True:
        return flag(name)
    if value is False:
        return f"--no-{flag(name).removeprefix('--')}"
    if isinstance(value, Mapping):
        value = ",".join(f"{key}={item}" for key, item in value.items())
    elif isinstance(value, list | tuple):
        value = ",".join(map(str, value))
    # quoted where a shell would act on it: rating>=4 is a redirection
    return f"{flag(name)} {shlex.quote(plain(value))}"


def invalid(name: str, expected: str, got: object, file: str = "", why: str = "") -> InputError:
    """The error for a value that an option does not accept, given or read from a file.

    >>> print(invalid("top", "a whole number from 1", 0))
    invalid top: expected a whole number from 1, got 0
    >>> print(invalid("top", "a whole number from 1", 0, "fairrec.toml"))
    fairrec.toml: invalid 'top': expected a whole number from 1, got 0
    """
    reason = f" ({why})" if why else ""
    if file:
        return InputError(
            f"{file}: invalid '{name}': expected {expected}, got {plain(repr(got))}{reason}"
        )
    is_typed = isinstance(got, str) and got.strip()
    value = both_spellings(plain(repr(got)), plain(got) if is_typed else plain(repr(got)))
    return InputError(f"invalid {spell(name)}: expected {expected}, got {value}{reason}")
