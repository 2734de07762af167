"""Who was audited: how many users have each value of each attribute."""

from __future__ import annotations

from fairrec.core.errors import plain
from fairrec.inputs.users import MISSING
from fairrec.report.page.value_order import value_order
from fairrec.report.page.view import Distribution, PageLimits, ValueBar
from fairrec.report.words import percent, plural, shown
from fairrec.result.schema import AttributeSummary, AuditSummary


def distributions(summary: AuditSummary, limits: PageLimits) -> tuple[Distribution, ...]:
    """One chart of bars an attribute, as many as there is room for."""
    drawn, n_left = [], limits.values
    for name, attribute in summary.attributes.items():
        if n_left <= 0:
            break
        drawn.append(_distribution(name, attribute, summary, n_left))
        n_left -= len(drawn[-1].bars)
    return tuple(drawn)


def _distribution(
    name: str, attribute: AttributeSummary, summary: AuditSummary, most: int
) -> Distribution:
    largest = max(attribute.values.values(), default=1)
    kept = dict([*attribute.values.items()][:most])
    ordered = sorted(kept, key=value_order)
    n_more = attribute.n_values - len(kept)
    n_rest = summary.n_users - sum(kept.values())
    least = 0 if summary.hidden is None else summary.hidden.min_shown
    users_of_rest = f" with {summary.unit.count(n_rest)}" if n_rest >= least else ""
    about = [plural(attribute.n_values, "value")]
    if attribute.binning:
        about.append(f"bins of {plain(attribute.binning)}")
    if attribute.n_missing:
        about.append(f"missing for {summary.unit.count(attribute.n_missing)}")
    if attribute.n_values_below_support:
        below = plural(attribute.n_values_below_support, "value")
        about.append(f"{below} with fewer than {summary.coverage.min_users:,} {summary.unit.many}")
    return Distribution(
        attribute=plain(name),
        about=", ".join(about),
        bars=tuple(
            ValueBar(
                value=shown(value),
                users=f"{kept[value]:,}",
                share=percent(kept[value] / summary.n_users),
                length=round(100 * kept[value] / largest, 1),
                is_small=kept[value] < summary.coverage.min_users,
                is_missing=value == MISSING,
            )
            for value in ordered
        ),
        rest=f"and {plural(n_more, 'smaller value')}{users_of_rest}" if n_more > 0 else "",
    )
