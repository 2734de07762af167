"""Options that are declared once: what they take, their default, and what is said about them.

An option is a field of a frozen dataclass beside its stage, annotated with its type and an
`Option`. Whoever needs more than the value reads it there: the dataclass checks what it is given,
the command line makes its flags of it, `help()` its words, and errors what was expected. A result
is passed on and the auditor's folders are not, so it tells paths and commands without them.
"""

from __future__ import annotations

import inspect
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from textwrap import fill
from threading import Lock
from typing import Any, ClassVar, Self, TypeVar, get_type_hints

from fairrec.core.errors import FairRecError, InputError, as_unicode, plain
from fairrec.core.kinds import Kind, UnfitError

F = TypeVar("F", bound=Callable[..., Any])

TABLES = "Tables"
GROUPS = "Groups"
STATISTICS = "Statistics"
SEARCH = "Search"
MODEL = "Model"
PLANNING = "Plan and settings"
ENGINE = "Engine"
OUTPUT = "Output"


@dataclass(frozen=True, slots=True)
class Option:
    """What is known about an option beside its type and default.

    Parameters
    ----------
    kind : the values it takes
    help : what it means
    panel : the heading it stands under where a command has many
    default : the default in words, where it is no fixed value
    """

    kind: Kind
    help: str
    panel: str = ""
    default: str = ""

    def parsed(self, name: str, given: object, file: str = "") -> Any:
        """The value; an error that names the option where it does not fit.

        Parameters
        ----------
        file : where it was read, if not given by the caller
        """
        try:
            return self.kind.parse(given)
        except FairRecError as error:
            if file:
                raise InputError(f"{file}: '{name}': {error}") from error
            raise
        except UnfitError as error:
            raise invalid(name, self.kind.expected, error.part, file, error.why) from error
        except (TypeError, ValueError, OverflowError) as error:
            raise invalid(name, self.kind.expected, given, file) from error


class Options:
    """Base of frozen dataclasses whose fields are options.

    >>> from fairrec.core.audit_options import AuditOptions
    >>> AuditOptions.of(min_support="1%", permutations=1e2).permutations
    100
    >>> AuditOptions(top=0)
    Traceback (most recent call last):
    fairrec.core.errors.InputError: invalid top: expected a whole number from 1 to 1,000, got 0
    """

    _declared: ClassVar[dict[str, Option]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        own = inspect.get_annotations(cls)
        types = get_type_hints(cls, include_extras=True)
        cls._declared = cls._declared | {
            name: mark
            for name in own
            for mark in getattr(types[name], "__metadata__", ())
            if isinstance(mark, Option)
        }
        # before the dataclass reads them: its signature shows types, not declarations
        types = get_type_hints(cls)
        cls.__annotations__ = {name: types[name] for name in own}
        doc = (cls.__doc__ or "").rstrip()
        title = "" if "Parameters\n" in doc else "\n\n    Parameters\n    ----------"
        lines = [_described(name, option, "    ") for name, option in cls._declared.items()]
        cls.__doc__ = "\n".join([doc + title, *lines, "    "])

    def __post_init__(self) -> None:
        for name, option in self._declared.items():
            object.__setattr__(self, name, option.parsed(name, getattr(self, name)))
        self.check()

    def check(self) -> None:
        """Refuse values that do not go together."""

    @classmethod
    def of(cls, **given: Any) -> Self:
        """The options from values of any form that they understand, whatever type is declared.

        What a function was given or a file holds goes in here; the constructor is for values
        that have their types already.
        """
        return cls(**given)

    @classmethod
    def among(cls, call: Mapping[str, Any]) -> Self:
        """The options among the arguments of a call, which its `locals()` are at its beginning.

        So a function names an option once, in its signature. What it does not take keeps its
        default.

        >>> from fairrec.core.audit_options import AuditOptions
        >>> AuditOptions.among({"depth": 2, "users": "users.csv"}) == AuditOptions(depth=2)
        True
        """
        return cls.of(**{name: call[name] for name in cls._declared if name in call})


def declared(options: type[Options]) -> Mapping[str, Option]:
    """The options of a class by name; fields without an `Option` are none of them."""
    return options._declared


def defaults(options: type[Options]) -> dict[str, object]:
    """The default of each option that has one, by name."""
    found: dict[str, object] = {}
    for field in fields(options):  # type: ignore[arg-type]
        if field.default is not MISSING:
            found[field.name] = field.default
        elif field.default_factory is not MISSING:
            found[field.name] = field.default_factory()
    return found


def changed(options: Options) -> dict[str, Any]:
    """The options that are not at their defaults, by name.

    >>> from fairrec.core.audit_options import AuditOptions
    >>> changed(AuditOptions(depth=2))
    {'depth': 2}
    """
    found = {}
    for name, default in defaults(type(options)).items():
        value = getattr(options, name)
        # tables are compared cell by cell, and no default is one
        if value is not default and not (isinstance(value, type(default)) and value == default):
            found[name] = value
    return found


def documented(*classes: type[Options], **single: Any) -> Callable[[F], F]:
    """Fill lines such as `depth, alpha : see AuditOptions` of a docstring with what is declared.

    Parameters
    ----------
    single : options that are of no class, annotated types by name, for lines such as
        `depth, alpha : as declared`
    """
    known = {f"see {options.__name__}": declared(options) for options in classes}
    known["as declared"] = {name: hint.__metadata__[0] for name, hint in single.items()}

    def described(function: F) -> F:
        def written(line: re.Match[str]) -> str:
            options = known[line["options"]]
            names = [name.strip() for name in line["names"].split(",")]
            return "\n".join(_described(name, options[name], line["indent"]) for name in names)

        function.__doc__ = re.sub(
            r"^(?P<indent> *)(?P<names>\w+(?:,\s+\w+)*) : (?P<options>see \w+|as declared)$",
            written,
            function.__doc__ or "",
            flags=re.MULTILINE,
        )
        return function

    return described


def _described(name: str, option: Option, indent: str) -> str:
    """A line or two of a docstring."""
    default = f". Default: {option.default}" if option.default else ""
    return fill(
        f"{name} : {option.help} ({option.kind.expected}){default}",
        width=100,
        initial_indent=indent,
        subsequent_indent=f"{indent}    ",
        break_on_hyphens=False,
    )


class _WayIn:
    """How many commands run; no context variable, because worker threads word errors too."""

    def __init__(self) -> None:
        self._lock, self._commands = Lock(), 0

    def count(self, commands: int) -> None:
        """So many more run, or fewer."""
        with self._lock:
            self._commands += commands

    @property
    def is_command_line(self) -> bool:
        return self._commands > 0


_way_in = _WayIn()


def is_command_line() -> bool:
    """Whether errors spell options as flags, for processes that work for this one."""
    return _way_in.is_command_line


@contextmanager
def from_command_line() -> Iterator[None]:
    """While this lasts, errors spell options as flags of the command line.

    It holds for the whole process: a program that runs a command in one thread sees flags in the
    errors of all.
    """
    _way_in.count(1)
    try:
        yield
    finally:
        _way_in.count(-1)


class Blank(str):
    """A value that the reader fills in: its word on the command line, `...` from Python.

    >>> spelled("items", Blank("FILE")), spelled("columns", {"label": Blank("NAME")})
    ('items=...', "columns={'label': ...}")
    >>> with from_command_line():
    ...     print(spelled("items", Blank("FILE")), spelled("columns", {"label": Blank("NAME")}))
    --items FILE --columns label=NAME
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "..."


def spelled(name: str, value: object = None) -> str:
    """An option as the reader of an error would write it, with a value where one is given.

    On the command line `--min-support 0.01`, from Python `min_support=0.01`: every message that
    names an option takes its spelling from here. The name is the one in Python; a count
    (`n_seeds`) has its flag without the `n_` (`--seeds`), a name that Python has taken without
    the last `_` (`format_`, `--format`). A mapping is written as pairs, a
    sequence with commas, a switch without value, one that is off as `--no-report`. What the
    reader has to fill in is a `Blank`.

    >>> spelled("min_support"), spelled("min_support", 0.01), spelled("columns", {"label": "y"})
    ('min_support', 'min_support=0.01', "columns={'label': 'y'}")
    >>> with from_command_line():
    ...     print(spelled("min_support"), spelled("columns", {"label": "y"}), spelled("n_seeds", 3))
    --min-support --columns label=y --seeds 3
    """
    if not _way_in.is_command_line:
        return name if value is None else f"{name}={plain(repr(value))}"
    flag = f"--{name.removeprefix('n_').rstrip('_').replace('_', '-')}"
    if value is None or value is True:
        return flag
    if value is False:
        return f"--no-{flag.removeprefix('--')}"
    if isinstance(value, Mapping):
        value = ",".join(f"{key}={item}" for key, item in value.items())
    elif isinstance(value, list | tuple):
        value = ",".join(map(str, value))
    # quoted where a shell would act on it: rating>=4 is a redirection
    return f"{flag} {shlex.quote(plain(value))}"


def invalid(name: str, expected: str, given: object, file: str = "", why: str = "") -> InputError:
    """The error for a value that an option does not take, given or read from a file.

    >>> print(invalid("top", "a whole number from 1", 0))
    invalid top: expected a whole number from 1, got 0
    >>> print(invalid("top", "a whole number from 1", 0, "fairrec.toml"))
    fairrec.toml: invalid 'top': expected a whole number from 1, got 0
    """
    is_typed = not file and _way_in.is_command_line and isinstance(given, str) and given.strip()
    got = plain(given) if is_typed else plain(repr(given))
    which = f"{file}: invalid '{name}'" if file else f"invalid {spelled(name)}"
    return InputError(f"{which}: expected {expected}, got {got}{why and f' ({why})'}")


_WHERE = ("--out", "--log")
_HOW = ("--force",)
"""Options that change nothing in a result: with a path, and switches."""


def told_path(path: str | Path) -> str:
    """A path within the working folder as it is; of any other the last name alone.

    >>> told_path("data/recs.csv"), told_path("/home/ann/acme/recs.csv"), told_path("../acme/r.csv")
    ('data/recs.csv', 'recs.csv', 'r.csv')
    """
    straight = Path(os.path.normpath(path))
    is_outside = straight.is_absolute() or os.pardir in straight.parts
    return as_unicode(straight.name if is_outside else os.fspath(path))


def told_command(command: str) -> str:
    """A command with its paths as they are told, and without what it writes to.

    Where a result lies changes nothing in it, so it is the same wherever that is.

    >>> told_command("fairrec audit /ann/recs.csv --users=../u.csv --out /tmp/a --force --by age")
    'fairrec audit recs.csv --users=u.csv --by age'
    >>> told_command("fairrec.audit(predictions, by=['age'])")
    "fairrec.audit(predictions, by=['age'])"
    """
    try:
        words = shlex.split(command)
    except ValueError:  # no command of a shell
        return as_unicode(command)
    told = [*_told(words)]
    return as_unicode(command if told == words else shlex.join(told))


def _told(words: list[str]) -> Iterator[str]:
    is_where = False
    for word in words:
        flag, equals, value = word.partition("=") if word.startswith("--") else ("", "", word)
        if not (is_where or flag in (*_WHERE, *_HOW)):
            yield f"{flag}{equals}{told_path(value)}" if value else word
        is_where = word in _WHERE
