"""Where the options of an audit come from: what is given beats the plan, the plan the settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, cast

from fairrec.auditing.options import AUDITED, SETTINGS
from fairrec.core.audit_options import About, Engine, Statistics
from fairrec.core.errors import InputError, plain
from fairrec.core.options import Blank, Options, expand, list_options, select, spell, spell_in
from fairrec.core.redact_paths import redact_path
from fairrec.core.settings import CHECKSUM, Settings, compute_checksum, read_settings
from fairrec.inputs.table_options import Tables

if TYPE_CHECKING:
    from fairrec.auditing.plan_file import PlanFacts
    from fairrec.report.audit_result import AuditResult

P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan as it was frozen: the options it sets, and the users it was made with."""

    settings: Settings
    facts: PlanFacts


def read_plan(file: str | Path) -> Plan:
    """The plan in a file; an error where it is none, or was changed after it was frozen."""
    from pydantic import ValidationError

    from fairrec.auditing.plan_file import PlanFacts

    if not isinstance(file, str | Path):
        raise InputError(
            "A plan is followed from the file in which it was frozen. Save it first: "
            "plan=made.save('plan.toml')"
        )
    settings = read_settings(file, SETTINGS)
    where, frozen = settings.where, settings.frozen
    freeze = f"fairrec plan {spell_in('fairrec plan', 'settings', where)}"
    if frozen is None:
        out = spell_in("fairrec plan", "out", Blank("PLAN.toml"))
        raise InputError(f"{where}: is not frozen, so it is no plan. Freeze it: {freeze} {out}")
    again = f"{freeze} {spell_in('fairrec plan', 'out', where)}"
    now, then = compute_checksum(settings.content), frozen.get(CHECKSUM)
    if now != then:
        raise InputError(
            f"{where}: was changed after it was frozen (checksum {now[:12]}, frozen with "
            f"{plain(str(then)[:12])}). Take the change back, or freeze it again: {again}"
        )
    try:
        return Plan(settings, PlanFacts.model_validate(frozen))
    except ValidationError as error:
        first = ".".join(map(str, error.errors()[0]["loc"]))
        raise InputError(
            f"{where}: is no plan of this version of FairRec (see plan.{plain(first)}). Freeze it "
            f"again: {again}"
        ) from error


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
        given = {name: one for name, one in given.items() if name in AUDITED and one is not None}
        planned = None if plan is None else read_plan(plan)
        found = None if settings is None else read_settings(settings, SETTINGS)
        if found is not None and found.frozen is not None:
            raise InputError(
                f"{found.where}: is a frozen plan. Run it as one: {spell('plan', found.where)}"
            )
        return cls(given, planned, found)

    @property
    def values(self) -> dict[str, Any]:
        """The options that are set anywhere, by name."""
        return {**_audited(self.settings), **self._planned, **self.given}

    @property
    def from_settings(self) -> tuple[str, ...]:
        """The options taken from the settings file."""
        beaten = {*self.given, *self._planned}
        return tuple(name for name in _audited(self.settings) if name not in beaten)

    @property
    def _planned(self) -> dict[str, Any]:
        return _audited(None if self.plan is None else self.plan.settings)

    def record(self, result: AuditResult) -> AuditResult:
        """The result of an audit with these options, with where they come from."""
        # what a result is made of is loaded while its tables are read, and not before
        from fairrec.auditing.plan_file import deviations
        from fairrec.result.folder import as_place
        from fairrec.result.schema import PlanSummary, SettingsSummary

        parts: dict[str, Any] = {}
        places = {}
        if (settings := self.settings) is not None:
            places["settings"] = as_place(settings.file)
            parts["settings"] = SettingsSummary(
                file=redact_path(settings.file),
                sha256=settings.sha256,
                options=self.from_settings,
            )
        if (plan := self.plan) is not None:
            places["plan"] = as_place(plan.settings.file)
            values = {name: AUDITED[name].parse(name, one) for name, one in self.values.items()}
            parts["plan"] = PlanSummary(
                file=redact_path(plan.settings.file),
                checksum=plan.facts.checksum,
                options=tuple(name for name in self._planned if name not in self.given),
                deviations=tuple(deviations(plan.facts, self._planned, values, result)),
            )
        return replace(
            result,
            summary=result.summary.model_copy(update=parts),
            run=result.run and result.run.with_inputs(places),
        )


def _audited(settings: Settings | None) -> dict[str, Any]:
    """The options of an audit that a file sets."""
    values = {} if settings is None else settings.values
    return {name: value for name, value in values.items() if name in AUDITED}


GROUPS: dict[str, type[Options]] = {
    "statistics": Statistics,
    "tables": Tables,
    "engine": Engine,
    "about": About,
}
"""The classes of values that rare options travel in, by the name of the argument."""


def follows_plan(audit: Callable[P, AuditResult]) -> Callable[P, AuditResult]:
    """An audit that takes its options from the files `plan` and `settings` where none is given.

    It wraps the audit, which cannot distinguish a given value from a default.
    """

    @wraps(audit)
    def run(*args: P.args, **given: P.kwargs) -> AuditResult:
        plan, about = cast(Any, given.pop("plan", None)), cast(Any, given.get("about"))
        settings = getattr(about, "settings", None)
        if plan is None and settings is None:
            return audit(*args, **given)
        flat = {**given}
        for name, cls in GROUPS.items():
            flat |= expand(cls, given.get(name), only_given=True)
        chosen = Choices.read(flat, plan, settings)
        values = chosen.values
        for name, cls in GROUPS.items():
            given[name] = cls(**{**expand(cls, given.get(name)), **select(cls, values)})
        grouped = {one for cls in GROUPS.values() for one in list_options(cls)}
        flat = {name: one for name, one in values.items() if name not in grouped}
        return chosen.record(audit(*args, **cast(Any, {**given, **flat})))

    return run
