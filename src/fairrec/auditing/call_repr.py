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
from fairrec.core.audit_options import AboutOptions, AuditOptions
from fairrec.core.errors import InputError, plain
from fairrec.core.options import Blank, changed, declared, from_command_line, spelled, told_path
from fairrec.core.settings import CHECKSUM, Settings, checksum_of, read_settings
from fairrec.inputs.table_options import TABLE_NAMES, TableOptions, ends_in_words
from fairrec.search.options import SearchOptions

if TYPE_CHECKING:
    from fairrec.result.audit_result import AuditResult
    from fairrec.result.plan_schema import PlanFacts

P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan as it was frozen: the options it sets, and the users it was made with."""

    settings: Settings
    facts: PlanFacts


def read_plan(file: str | Path) -> Plan:
    """The plan in a file; an error where it is none, or another one than was frozen."""
    from pydantic import ValidationError

    from fairrec.result.plan_schema import PlanFacts

    if not isinstance(file, str | Path):
        raise InputError(
            "A plan is followed from the file in which it was frozen. Save it first: "
            "plan=made.save('plan.toml')"
        )
    settings = read_settings(file, SETTINGS)
    where, frozen = settings.where, settings.frozen
    with from_command_line():
        freeze = f"fairrec plan {spelled('settings', where)}"
        again = f"{freeze} {spelled('out', where)}"
        elsewhere = f"{freeze} {spelled('out', Blank('PLAN.toml'))}"
    if frozen is None:
        raise InputError(f"{where}: is not frozen, so it is no plan. Freeze it: {elsewhere}")
    now, then = checksum_of(settings.content), frozen.get(CHECKSUM)
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


def settings_of(file: str | Path) -> Settings:
    """The settings in a file that is no plan."""
    settings = read_settings(file, SETTINGS)
    if settings.frozen is not None:
        raise InputError(
            f"{settings.where}: is a frozen plan. Run it as one: {spelled('plan', settings.where)}"
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
    def of(
        cls, given: Mapping[str, Any], plan: str | Path | None, settings: str | Path | None
    ) -> Choices:
        """What is given, with the files that are named; None is not given."""
        return cls(
            {
                name: AUDITED[name].parsed(name, value)
                for name, value in given.items()
                if name in AUDITED and value is not None
            },
            None if plan is None else read_plan(plan),
            None if settings is None else settings_of(settings),
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

    def recorded(self, result: AuditResult, loaded: Iterable[Path] = ()) -> AuditResult:
        """The result of an audit with these options, with where they come from.

        Parameters
        ----------
        loaded : files with own metrics
        """
        # what a result is made of is loaded while its tables are read, and not before
        from fairrec.auditing.plan_file import deviations
        from fairrec.result.saved import place_of
        from fairrec.result.schema import PlanSummary, SettingsSummary

        parts: dict[str, Any] = {}
        if self.settings is not None:
            parts["settings"] = SettingsSummary(
                file=told_path(self.settings.file),
                sha256=self.settings.sha256,
                options=self.from_settings,
            )
        if self.plan is not None:
            parts["plan"] = PlanSummary(
                file=told_path(self.plan.settings.file),
                checksum=self.plan.facts.checksum,
                options=tuple(name for name in self._planned if name not in self.given),
                deviations=tuple(
                    deviations(self.plan.facts, self._planned, self.values, result, loaded)
                ),
            )
        plan = None if self.plan is None else self.plan.settings
        read = {"plan": plan, "settings": self.settings}
        places = {name: place_of(each.file) for name, each in read.items() if each is not None}
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

    It stands around the audit, because inside nobody can tell a value that is given from a default.
    """

    @wraps(audit)
    def run(*args: P.args, **given: P.kwargs) -> AuditResult:
        plan, settings = (cast(Any, given.pop(name, None)) for name in ("plan", "settings"))
        if plan is None and settings is None:
            return audit(*args, **given)
        chosen = Choices.of(given, plan, settings)
        given.update(chosen.values)
        return chosen.recorded(audit(*args, **given))

    return run


_WRITTEN: dict[str, Callable[[Any], object]] = {
    "side": str,
    "unit": str,
    "by": list,
    "given": list,
    "metrics": list,
    "columns": dict,
    "relevant": str,
    "gain": str,
    "missing_lists": str,
    "better": ends_in_words,
}


def audit_call(
    said: Sequence[str],
    options: AuditOptions,
    about: AboutOptions,
    how: Sequence[str] = (),
    function: str = "audit",
) -> str:
    """The call with these arguments about tables and about how users are scored.

    >>> audit_call(["predictions", "users=users"], AuditOptions(), AboutOptions())[:36]
    'fairrec.audit(predictions, users=use'
    """
    parts = [*said]
    parts += [
        f"{name}={getattr(options, name)!r}"
        for name in declared(AuditOptions)
        if name not in ("threads", "max_memory", "tolerance")
    ]
    if options.tolerance is not None:
        parts.append(f"tolerance={str(options.tolerance)!r}")
    parts += how
    parts += [f"{name}={value!r}" for name, value in vars(about).items() if value]
    return f"fairrec.{function}({', '.join(parts)})"


def said_of_tables(tables: TableOptions, metrics: Sequence[str]) -> list[str]:
    """The arguments about tables, which go by their names.

    Parameters
    ----------
    metrics : those that were audited
    """
    given = {**changed(tables), "metrics": metrics}
    said = [] if tables.values is not None else ["predictions"]
    said += [f"{name}={name}" for name in TABLE_NAMES if name in given]
    return said + said_of(given)


def said_of(given: dict[str, Any]) -> list[str]:
    """The arguments about what is made of tables.

    >>> said_of({"by": ("age",), "metrics": ("auc",), "users": "users.csv"})
    ["by=['age']", "metrics=['auc']"]
    """
    return [f"{name}={write(given[name])!r}" for name, write in _WRITTEN.items() if name in given]


def said_of_scores(how: SearchOptions | None, scorer: object) -> list[str]:
    """The arguments about how users are scored."""
    said = []
    if how is not None:
        ledger = None if how.ledger is None else told_path(how.ledger)
        said.append(f"search={replace(how, ledger=ledger)!r}")
    return said if scorer is None else [*said, "scorer=scorer"]
