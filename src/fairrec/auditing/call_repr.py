"""Where the options of an audit come from, and the call that repeats it.

What is given beats the plan, and the plan beats the settings file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, cast

from fairrec.auditing.options import AUDITED, SETTINGS
from fairrec.core.audit_options import About, AuditOptions, Engine, Statistics
from fairrec.core.errors import InputError, as_flags, plain
from fairrec.core.options import (
    Blank,
    Options,
    expand,
    list_changed,
    list_given,
    list_options,
    select,
    spell,
)
from fairrec.core.redact_paths import redact_path
from fairrec.core.settings import CHECKSUM, Settings, compute_checksum, read_settings
from fairrec.inputs.table_options import TABLE_NAMES, TableOptions, Tables, ends_as_text
from fairrec.search.options import Search

if TYPE_CHECKING:
    from fairrec.auditing.plan_schema import PlanFacts
    from fairrec.report.audit_result import AuditResult

P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan as it was frozen: the options it sets, and the users it was made with."""

    settings: Settings
    facts: PlanFacts


def read_plan(file: str | Path) -> Plan:
    """The plan in a file; an error where it is none, or another one than was frozen."""
    from pydantic import ValidationError

    from fairrec.auditing.plan_schema import PlanFacts

    if not isinstance(file, str | Path):
        raise InputError(
            "A plan is followed from the file in which it was frozen. Save it first: "
            "plan=made.save('plan.toml')"
        )
    settings = read_settings(file, SETTINGS)
    where, frozen = settings.where, settings.frozen
    freeze = as_flags(f"fairrec plan {spell('settings', where)}")
    again = as_flags(f"{freeze} {spell('out', where)}")
    elsewhere = as_flags(f"{freeze} {spell('out', Blank('PLAN.toml'))}")
    if frozen is None:
        raise InputError(f"{where}: is not frozen, so it is no plan. Freeze it: {elsewhere}")
    now, then = compute_checksum(settings.content), frozen.get(CHECKSUM)
    if now != then:
        raise InputError(
            f"{where}: was changed after it was frozen (checksum {now[:12]}, frozen with "
            f"{plain(str(then)[:12])}). Take the change back, or freeze it again: {again}"
        )
    try:
        facts = PlanFacts.model_validate(frozen)
    except ValidationError as error:
        first = ".".join(map(str, error.errors()[0]["loc"]))
        raise InputError(
            f"{where}: is no plan of this version of FairRec (see plan.{plain(first)}). Freeze it "
            f"again: {again}"
        ) from error
    return Plan(settings, facts)


def describe_options(file: str | Path) -> Settings:
    """The settings in a file that is no plan."""
    settings = read_settings(file, SETTINGS)
    if settings.frozen is not None:
        raise InputError(
            f"{settings.where}: is a frozen plan. Run it as one: {spell('plan', settings.where)}"
        )
    return settings


@dataclass(frozen=True, slots=True)
class Choices:
    """The options of an audit, and where each comes from.

    Parameters
    ----------
    given : by the caller, by name
    """

    given: Mapping[str, Any]
    plan: Plan | None
    settings: Settings | None

    @classmethod
    def read(
        cls, given: Mapping[str, Any], plan: str | Path | None, settings: str | Path | None
    ) -> Choices:
        """What is given, with the files that are named; None is not given."""
        return cls(
            {name: value for name, value in given.items() if name in AUDITED and value is not None},
            None if plan is None else read_plan(plan),
            None if settings is None else describe_options(settings),
        )

    @property
    def values(self) -> dict[str, Any]:
        """The options that are set anywhere, by name."""
        return {**self._of(self.settings), **self._planned, **self.given}

    @property
    def from_settings(self) -> tuple[str, ...]:
        """The options taken from the settings file."""
        beaten = {*self.given, *self._planned}
        return tuple(name for name in self._of(self.settings) if name not in beaten)

    def record(self, result: AuditResult, loaded: Iterable[Path] = ()) -> AuditResult:
        """The result of an audit with these options, with where they come from.

        Parameters
        ----------
        loaded : files with own metrics
        """
        # what a result is made of is loaded while its tables are read, and not before
        from fairrec.auditing.plan_file import deviations
        from fairrec.result.folder import as_place
        from fairrec.result.schema import PlanSummary, SettingsSummary

        parts: dict[str, Any] = {}
        if self.settings is not None:
            parts["settings"] = SettingsSummary(
                file=redact_path(self.settings.file),
                sha256=self.settings.sha256,
                options=self.from_settings,
            )
        if self.plan is not None:
            values = {name: AUDITED[name].parse(name, one) for name, one in self.values.items()}
            parts["plan"] = PlanSummary(
                file=redact_path(self.plan.settings.file),
                checksum=self.plan.facts.checksum,
                options=tuple(name for name in self._planned if name not in self.given),
                deviations=tuple(
                    deviations(self.plan.facts, self._planned, values, result, loaded)
                ),
            )
        plan = None if self.plan is None else self.plan.settings
        read = {"plan": plan, "settings": self.settings}
        places = {name: as_place(each.file) for name, each in read.items() if each is not None}
        return replace(
            result,
            summary=result.summary.model_copy(update=parts),
            run=result.run and result.run.with_inputs(places),
        )

    @property
    def _planned(self) -> dict[str, Any]:
        return self._of(None if self.plan is None else self.plan.settings)

    @staticmethod
    def _of(settings: Settings | None) -> dict[str, Any]:
        """The options of an audit that a file sets."""
        if settings is None:
            return {}
        return {name: value for name, value in settings.values.items() if name in AUDITED}


def follows_plan(audit: Callable[P, AuditResult]) -> Callable[P, AuditResult]:
    """An audit that takes its options from the files `plan` and `settings` where none is given.

    It wraps the audit, which cannot distinguish a given value from a default.
    """

    @wraps(audit)
    def run(*args: P.args, **given: P.kwargs) -> AuditResult:
        plan, about = cast(Any, given.pop("plan", None)), cast(Any, given.get("about"))
        settings = None if about is None else about.settings
        if plan is None and settings is None:
            return audit(*args, **given)
        flat = {**given}
        for name in GROUPS:
            flat |= list_given(given[name]) if given.get(name) is not None else {}
        chosen = Choices.read(flat, plan, settings)
        for name, cls in GROUPS.items():
            given[name] = cls(**{**expand(cls, given.get(name)), **select(cls, chosen.values)})
        grouped = {one for cls in GROUPS.values() for one in list_options(cls)}
        flat = {name: one for name, one in chosen.values.items() if name not in grouped}
        return chosen.record(audit(*args, **cast(Any, {**given, **flat})))

    return run


GROUPS: dict[str, type[Options]] = {
    "statistics": Statistics,
    "tables": Tables,
    "engine": Engine,
    "about": About,
}
"""The classes of values that rare options travel in, by the name of the argument."""

_WRITTEN: dict[str, Callable[[Any], object]] = {
    "by": list,
    "adjust_for": list,
    "metrics": list,
    "columns": dict,
    "relevant": str,
    "better": ends_as_text,
}


def audit_call(
    said: Sequence[str],
    options: AuditOptions,
    about: About,
    how: Sequence[str] = (),
    function: str = "audit",
) -> str:
    """The call with these arguments about tables and about how users are scored.

    >>> audit_call(["predictions", "users=users"], AuditOptions(), About())[:36]
    'fairrec.audit(predictions, users=use'
    """
    parts = [*said, *(f"{name}={getattr(options, name)!r}" for name in ("depth", "min_support"))]
    if options.tolerance is not None:
        parts.append(f"tolerance={str(options.tolerance)!r}")
    parts.append(f"seed={options.seed!r}")
    statistics = {name: getattr(options, name) for name in list_options(Statistics)}
    parts += [write_group("statistics", Statistics, statistics), *how]
    named = {name: getattr(about, name) for name in list_options(About) if getattr(about, name)}
    parts += [write_group("about", About, named)] if named else []
    return f"fairrec.{function}({', '.join(parts)})"


def describe_tables(tables: TableOptions, metrics: Sequence[str]) -> list[str]:
    """The arguments about tables, which go by their names.

    Parameters
    ----------
    metrics : those that were audited
    """
    given = {**list_changed(tables), "metrics": metrics}
    said = [] if tables.values is not None else ["predictions"]
    said += [f"{name}={name}" for name in TABLE_NAMES if name in given and name not in RARE]
    return said + describe_parts(given)


RARE = list_options(Tables)


class _Variable(str):
    """A table, which goes by its name."""

    __slots__ = ()
    __repr__ = str.__str__


def describe_parts(given: Mapping[str, Any]) -> list[str]:
    """The arguments about what is made of tables.

    >>> describe_parts(
    ...     {"by": ("age",), "metrics": ("auc",), "users": "users.csv", "gain": "rating"})
    ["by=['age']", "metrics=['auc']", "tables=fairrec.Tables(gain='rating')"]
    """
    written = {
        name: _WRITTEN[name](value) if name in _WRITTEN else value for name, value in given.items()
    }
    written |= {name: _Variable(name) for name in TABLE_NAMES if name in given}
    flat = ("by", "adjust_for", "metrics")
    parts = [f"{name}={written[name]!r}" for name in flat if name in written]
    rare = {name: written[name] for name in RARE if name in written}
    return [*parts, write_group("tables", Tables, rare)] if rare else parts


def write_group(name: str, cls: type[Options], values: Mapping[str, object]) -> str:
    """The argument that several options travel in.

    >>> write_group("statistics", Statistics, {"permutations": 99})
    'statistics=fairrec.Statistics(permutations=99)'
    """
    fields = ", ".join(f"{field}={value!r}" for field, value in values.items())
    return f"{name}=fairrec.{cls.__name__}({fields})"


def describe_scoring(how: Search | None, scorer: object) -> list[str]:
    """The arguments about how users are scored."""
    said = []
    if how is not None:
        ledger = None if how.ledger is None else redact_path(how.ledger)
        said.append(f"search=fairrec.{replace(how, ledger=ledger)!r}")
    return said if scorer is None else [*said, "scorer=scorer"]
