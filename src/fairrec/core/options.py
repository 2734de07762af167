"""Options, declared once: type, range, default and help.

An option is a field of a class made by `options`, a frozen pydantic dataclass: its type says what
it accepts, and an `Option` beside it the help. Python, the command line, settings files, docs and
errors all read it there.

A message names an option as its reader writes it: `spell` gives a flag where a command runs, and
within a public function the argument that takes the option.
"""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, Field, dataclass, fields, replace
from functools import cache, cached_property, wraps
from importlib import import_module
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar, cast, get_args, get_type_hints

import pydantic
from pydantic import ConfigDict, TypeAdapter, ValidationError

from fairrec.core.errors import (
    FairRecError,
    InputError,
    UnknownNameError,
    find_nearest,
    listed,
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

GROUPED: dict[str, tuple[str, list[str]]] = {}
"""Parameters of public functions that take several options as one value: its class, and the names
of these options."""

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

    def describe(self, name: str, indent: str) -> str:
        """A line or two of a docstring."""
        default = f". Default: {self.default}" if self.default else ""
        return fill(
            f"{name} : {self.help} ({self.form.expected}){default}",
            width=100,
            initial_indent=indent,
            subsequent_indent=f"{indent}    ",
            break_on_hyphens=False,
        )

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
        _given: ClassVar[tuple[str, ...]]
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
    hints = get_type_hints(made, include_extras=True)
    bound = {field.name: bind(hints[field.name]) for field in fields(made)}
    made._options = {name: option for name, option in bound.items() if option is not None}
    validate = made.__init__

    @wraps(validate)
    def parse(self: Any, *args: Any, **given: Any) -> None:
        given = dict(zip(bound, args, strict=False)) | given
        try:
            validate(self, **given)
        except ValidationError as error:
            raise _explain(error, made._options, given) from None
        object.__setattr__(self, "_given", tuple(given))

    made.__init__ = parse
    # the signature shows types, not declarations
    signature, types = inspect.signature(made), get_type_hints(made)
    shown = [one.replace(annotation=types[one.name]) for one in signature.parameters.values()]
    made.__signature__ = signature.replace(parameters=shown)
    title = "" if "Parameters\n" in (made.__doc__ or "") else "\n\n    Parameters\n    ----------"
    lines = [option.describe(name, "    ") for name, option in made._options.items()]
    made.__doc__ = "\n".join([(made.__doc__ or "").rstrip() + title, *lines, "    "])
    return made  # type: ignore[no-any-return]


def grouped(parameter: str) -> Callable[[type[T]], type[T]]:
    """Options that public functions take together, as one value under this name."""

    def register(cls: type[T]) -> type[T]:
        GROUPED[parameter] = (
            cls.__name__.removesuffix("Options"),
            [one.name for one in fields(cls)],
        )
        return cls

    return register


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


def expand(
    cls: type[Options], value: Any, without: Collection[str] = (), only_given: bool = False
) -> dict[str, Any]:
    """The fields of a value of a class, by name; none for None.

    Parameters
    ----------
    without : those that the function has no use for, refused where they are set
    only_given : those alone that were given when it was made, also at their defaults
    """
    if value is None:
        return {}
    if not isinstance(value, cls):
        raise invalid(cls.__name__.lower(), f"fairrec.{cls.__name__}(...)", value)
    for name in list_changed(value):
        if name in without:
            raise InputError(
                f"{spell(name, Blank())} has no effect here. Leave it out. fairrec.{cls.__name__} "
                f"takes here: {listed(one for one in list_options(cls) if one not in without)}."
            )
    names = value._given if only_given else [one.name for one in fields(value)]
    return {name: getattr(value, name) for name in names}


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
        return InputError(f"{file}: {ours}") if file else ours
    first, place = errors[0], errors[0]["loc"]
    name = next(iter(known)) if len(known) == 1 else str(place[0])
    if first["type"] in ("unexpected_keyword_argument", "extra_forbidden"):
        unknown = unknown_name("option", name := str(place[0]), known)
        home = next((home for home, names in GROUPED.values() if name in names), None)
        return UnknownNameError(f"{unknown} It is one of fairrec.{home}.") if home else unknown
    if name not in known:
        return invalid(name, first.get("ctx", {}).get("class", "another value"), given[name], file)
    if name not in given:
        return InputError(f"{spell(name)} is missing: {known[name].form.expected}.")
    unfit = next((cause for cause in causes if isinstance(cause, UnfitError)), None)
    got = given[name] if unfit is None else unfit.part
    if unfit is None and known[name].form.is_list and first["input"] is not got:
        # a part of a mapping, or of a list
        got = f"{place[-1]}={first['input']}" if isinstance(place[-1], str) else first["input"]
    return invalid(name, known[name].form.expected, got, file)


def documented(*classes: type[Options], **single: Any) -> Callable[[F], F]:
    """Fill lines such as `depth, seed : see AuditOptions` of a docstring with what is declared.

    Parameters
    ----------
    single : options that are of no class, annotated types by name, for lines such as
        `depth, seed : as declared`
    """
    known = {
        (f"see {cls.__name__}", name): one for cls in classes for name, one in cls._options.items()
    }
    known |= {("as declared", name): cast(Option, bind(hint)) for name, hint in single.items()}

    def write(line: re.Match[str]) -> str:
        names = [name.strip() for name in line["names"].split(",")]
        return "\n".join(known[line["home"], name].describe(name, line["indent"]) for name in names)

    def fill_in(function: F) -> F:
        function.__doc__ = re.sub(
            r"^(?P<indent> *)(?P<names>\w+(?:,\s+\w+)*) : (?P<home>see \w+|as declared)$",
            write,
            function.__doc__ or "",
            flags=re.MULTILINE,
        )
        return function

    return fill_in


_RUNNING: list[Collection[str] | None] = [()]
"""The parameters of the public function that runs, last; None while a command does."""


@contextmanager
def spelled_for(parameters: Collection[str] | None) -> Iterator[None]:
    """Spell options as arguments of a function with these parameters; as flags for None."""
    _RUNNING.append(parameters)
    try:
        yield
    finally:
        _RUNNING.pop()


def current_spelling() -> Collection[str] | None:
    """What `spelled_for` was last called with, for other processes that work on the same."""
    return _RUNNING[-1]


def public_function(function: F) -> F:
    """A function whose errors spell options as it takes them.

    An argument that it does not take gets a hint at the option that was meant.
    """
    name, signature = function.__name__, inspect.signature(function).parameters
    parameters = tuple(signature)
    takes_any = any(one.kind is one.VAR_KEYWORD for one in signature.values())

    @wraps(function)
    def run(*args: Any, **given: Any) -> Any:
        # a function that another one calls speaks as that one
        with spelled_for(parameters if _RUNNING[-1] == () else _RUNNING[-1]):
            unknown = next((one for one in given if one not in parameters), None)
            if unknown is not None and not takes_any:
                grouped = [one for group in parameters for one in GROUPED.get(group, ("", []))[1]]
                nearest = find_nearest(unknown, [*parameters, *grouped])
                hint = f" Did you mean {_place(nearest, '...')}?" if nearest else ""
                raise TypeError(f"{name}() got an unexpected keyword argument '{unknown}'.{hint}")
            return function(*args, **given)

    return cast(F, run)


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
    """An option as the reader of a message would write it, with a value where one is given.

    As a flag, a mapping is written as pairs, a sequence with commas, a switch without value, one
    that is off as `--no-report`. What the reader has to fill in is a `Blank`.

    >>> spell("min_support", 0.01)
    'min_support=0.01'
    >>> with spelled_for(None):
    ...     spell("columns", {"label": Blank("NAME")}), spell("report", False)
    ('--columns label=NAME', '--no-report')
    """
    if _RUNNING[-1] is not None:
        return name if value is None else _place(name, plain(repr(value)))
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


def _place(name: str, value: str) -> str:
    """The argument that gives the running function an option, within a group that it takes."""
    parameters = _RUNNING[-1] or ()
    homes = [one for one in parameters if one in GROUPED and name in GROUPED[one][1]]
    if not homes or (name in parameters and name not in homes):
        return f"{name}={value}"
    # where two have it, the one that has little else
    home = min(homes, key=lambda one: len(GROUPED[one][1]))
    return f"{home}=fairrec.{GROUPED[home][0]}({name}={value})"


def spell_in(command: str, name: str, value: object = None) -> str:
    """An option as in the command that made a result, for the words about it.

    >>> spell_in("fairrec audit recs.csv", "depth", 2), spell_in("fairrec.audit(recs)", "depth", 2)
    ('--depth 2', 'depth=2')
    """
    parameters: Collection[str] | None = None
    if command.startswith("fairrec."):
        function = getattr(import_module("fairrec"), command.split("(", maxsplit=1)[0][8:], None)
        parameters = tuple(inspect.signature(function).parameters) if function else ()
    with spelled_for(parameters):
        return spell(name, value)


def invalid(name: str, expected: str, got: object, file: str = "") -> InputError:
    """The error for a value that an option does not accept, given or read from a file.

    >>> print(invalid("top", "a whole number from 1", 0))
    invalid top: expected a whole number from 1, got 0
    >>> print(invalid("top", "a whole number from 1", 0, "fairrec.toml"))
    fairrec.toml: invalid 'top': expected a whole number from 1, got 0
    """
    is_typed = _RUNNING[-1] is None and not file and isinstance(got, str) and got.strip()
    value = plain(got) if is_typed else plain(repr(got))
    where = f"{file}: invalid '{name}'" if file else f"invalid {spell(name)}"
    return InputError(f"{where}: expected {expected}, got {value}")
