"""What a plan can find, in words."""

from __future__ import annotations

from dataclasses import dataclass

from fairrec.core.errors import listed, plain
from fairrec.report.text.table_view import TableView
from fairrec.report.words import number, plural
from fairrec.result.plan_schema import PlanFacts


@dataclass(frozen=True, slots=True)
class PlanView:
    """A plan, ready to print."""

    title: str
    tables: tuple[TableView, ...]


def plan_view(facts: PlanFacts) -> PlanView:
    """The view of a plan."""
    n_groups = sum(groups.n_groups for groups in facts.groups)
    return PlanView(
        title=(
            f"{plural(facts.n_users, 'user')}, {plural(n_groups, 'group')} of at least "
            f"{plural(facts.min_users, 'user')} by {listed(facts.attributes)}"
        ),
        tables=(_groups(facts), _expected(facts)),
    )


def _groups(facts: PlanFacts) -> TableView:
    return TableView(
        title="Groups by number of attributes",
        columns=("attributes", "groups", "too small", "smallest", "median", "largest"),
        numeric=(True,) * 6,
        rows=tuple(
            (
                str(groups.depth),
                f"{groups.n_groups:,}",
                f"{groups.n_groups_below:,}",
                *(
                    "-" if size is None else f"{size:,}"
                    for size in (groups.smallest, groups.median, groups.largest)
                ),
            )
            for groups in facts.groups
        ),
        note="Sizes in users of the users table, whether or not they will have a value.",
    )


def _expected(facts: PlanFacts) -> TableView:
    unit = "" if facts.spread else ", in standard deviations among users"
    return TableView(
        title=f"Smallest true harm shown with 80% probability{unit}",
        columns=("metric", "users of a group", "groups of that size or larger", "harm"),
        numeric=(False, True, True, True),
        rows=tuple(
            (
                plain(expected.metric),
                f"{expected.users:,}",
                f"{expected.n_groups:,}",
                "none can be shown" if expected.harm is None else number(expected.harm),
            )
            for expected in facts.expected
        ),
    )
