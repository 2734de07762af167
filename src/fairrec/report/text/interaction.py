"""What carries a finding of several conditions, in a sentence and in a small table."""

from __future__ import annotations

from fairrec.core.errors import plain
from fairrec.core.units import Unit
from fairrec.report.words import number, shown, signed
from fairrec.result.metric_schema import Finding, Interaction, Neighbour
from fairrec.result.schema import AuditSummary


def neighbour_columns(unit: Unit) -> tuple[str, str, str, str]:
    """What each row of neighbours has."""
    return unit.which, unit.many, "mean", "standard error"


def carried_by(finding: Finding, summary: AuditSummary) -> tuple[str, str]:
    """Whether it is the combination, and the distances behind that; empty for one condition."""
    found = finding.interaction
    if found is None:
        return "", ""
    distances = _distances(finding, found, summary)
    if summary.given is not None:
        # neighbours are as they are, so their distances need not even have the sign of the finding
        return (
            f"Whether it is the combination was not looked at among {summary.unit.many} in the "
            "same circumstances.",
            f"Whatever these are: {distances[0].lower()}{distances[1:]}",
        )
    return _verdict(finding, found), distances


def neighbour_rows(finding: Finding, summary: AuditSummary) -> tuple[tuple[str, ...], ...]:
    """The finding and its neighbours: who, how many, mean and standard error."""
    if finding.interaction is None:
        return ()
    neighbours = finding.interaction.neighbours
    largest = max(abs(neighbour.value or 0.0) for neighbour in neighbours)
    return tuple(
        (
            ", ".join(
                _condition(finding, name) if is_met else _otherwise(finding, name, summary)
                for name, is_met in neighbour.is_met.items()
            ),
            f"{neighbour.n_users:,}",
            _not_known(neighbour, summary)
            if neighbour.value is None
            else number(neighbour.value, largest),
            "" if neighbour.error is None else number(neighbour.error, largest),
        )
        for neighbour in neighbours
    )


def _verdict(finding: Finding, found: Interaction) -> str:
    alone = ", ".join(_condition(finding, name) for name in found.alone)
    by_itself = "by itself" if len(found.alone) == 1 else "each by itself"
    if found.carried_by == "the combination":
        return f"It is the combination{f', and {alone} {by_itself}' if alone else ''}."
    if found.carried_by == "each condition by itself":
        return f"It is {alone} {by_itself}."
    return "Not certain whether it is the combination, or a condition by itself."


def _distances(finding: Finding, found: Interaction, summary: AuditSummary) -> str:
    """How far the finding and each condition alone are from users who meet none."""
    group, none = found.neighbours[0], found.neighbours[-1]
    is_pair = len(group.is_met) == 2
    unit = summary.unit
    neither = "neither condition" if is_pair else "none of the conditions"
    if none.value is None or group.value is None:
        those = f"{unit.many.capitalize()} {unit.who} meet {neither}"
        return f"{those} are no help: {_not_known(none, summary)}."
    said = []
    for one in found.neighbours:
        met = [name for name, is_met in one.is_met.items() if is_met]
        if len(met) == 1:
            alone = f"{_condition(finding, met[0])} alone"
            said.append(
                f"{alone} not known ({_not_known(one, summary)})"
                if one.value is None
                else f"{alone} {signed(one.value - none.value, none.value)}"
            )
    together = "both together" if is_pair else "all together"
    return (
        f"Compared with {unit.many} {unit.who} meet {neither}: {', '.join(said)}, {together} "
        f"{signed(group.value - none.value)}."
    )


def _condition(finding: Finding, name: str) -> str:
    return f"{plain(name)}={shown(finding.group[name])}"


def _otherwise(finding: Finding, name: str, summary: AuditSummary) -> str:
    """The condition not met; by the other value where an attribute has two."""
    value = finding.group[name]
    attribute = summary.attributes.get(name)
    if attribute is not None and attribute.n_values == 2:
        for other in attribute.values:
            if other != str(value):
                return f"{plain(name)}={shown(other)}"
    return f"{plain(name)} not {shown(value)}"


def _not_known(neighbour: Neighbour, summary: AuditSummary) -> str:
    is_small = neighbour.n_users < summary.coverage.min_users
    return f"too few {summary.unit.many}" if is_small else "not fully scored"
