"""What a plan can find and rule out, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from fairrec.auditing.plan_file import Needed, PlanFacts
from fairrec.core.errors import listed, plain
from fairrec.report.answer import Answer, AnswerTable, Block, Row
from fairrec.report.text import write_markdown
from fairrec.report.words import TableView, group_label, number, percent, plural
from fairrec.statistics.power import MOST_TIMES
from fairrec.statistics.simultaneous import EDGES

_NOT_THERE = " With a dash: no group of the plan is about as large, so nothing is computed for it."


@dataclass(frozen=True, slots=True)
class PlanView:
    """A plan, ready to print."""

    answer: Answer
    tables: tuple[TableView, ...]


def plan_view(facts: PlanFacts, given: Sequence[str] = ()) -> PlanView:
    """The view of a plan.

    Parameters
    ----------
    given : the covariates in which users are to be alike
    """
    n_groups = sum(groups.n_groups for groups in facts.groups)
    tables = (_groups(facts), _expected(facts, given), _needed(facts), _costs(facts))
    title = (
        f"{plural(facts.n_users, 'user')}, {plural(n_groups, 'group')} of at least "
        f"{plural(facts.min_users, 'user')} by {listed(facts.attributes)}"
    )
    return PlanView(_answer(title, facts, tables), tuple(table for table in tables if table.rows))


def _answer(title: str, facts: PlanFacts, tables: Sequence[TableView]) -> Answer:
    """The users needed for the tolerance where one is set, else what can be found."""
    _, expected, needed, _ = tables
    if needed.rows:
        title_of, note = needed.title, needed.note
        columns: tuple[str, ...] = (
            "metric",
            "users now",
            "tolerance",
            "times as many",
            "users in all",
        )
        rows = [Row(f"{metric} {group}", tuple(cells)) for metric, group, *cells in needed.rows]
    else:
        title_of, note = expected.title, expected.note
        columns = ("metric", "group size", "groups", "found", "ruled out", "median")
        rows = [Row(metric, tuple(cells)) for metric, *cells in expected.rows]
    block = Block("", tuple(rows), "more rows: --verbose", is_ranked=True)
    table = AnswerTable(columns, (False, *(True,) * (len(columns) - 1)), (block,))
    return Answer(
        tone="open",
        headline=title,
        about=(f"{title_of}:",) if rows else (),
        table=table if rows else None,
        sentences=(note,) if rows else (),
    )


def plan_markdown(view: PlanView) -> str:
    """All tables of a plan as Markdown."""
    answer = replace(view.answer, table=None, about=(), sentences=())
    return write_markdown("FairRec plan", answer, (), view.tables)


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


def _expected(facts: PlanFacts, given: Sequence[str]) -> TableView:
    unit = "" if facts.spread else ", in standard deviations among users"
    # cut-offs are those of size classes: a row of a class without groups has none
    has_any = any(expected.certified is not None for expected in facts.expected)
    unknown = "-" if has_any else "none"
    is_unknown = has_any and any(expected.certified is None for expected in facts.expected)
    return TableView(
        title=f"Harm found and ruled out with 80% probability{unit}",
        columns=(
            "metric",
            "users of a group",
            "groups of that size or larger",
            "found",
            "ruled out",
            "ruled out, median",
        ),
        numeric=(False, True, True, True, True, True),
        rows=tuple(
            (
                plain(expected.metric),
                f"{expected.users:,}",
                f"{expected.n_groups:,}",
                "none can be shown" if expected.harm is None else number(expected.harm),
                *(
                    unknown if harm is None else number(harm)
                    for harm in (expected.certified, expected.certified_median)
                ),
            )
            for expected in facts.expected
        ),
        note=(
            "Found: the smallest true harm that is shown. Ruled out: where a group has no true "
            "difference, that it is worse by more than this, for all groups at once; median: in "
            f"half of all audits.{_NOT_THERE if is_unknown else ''}{_larger_in_larger(facts)}"
            f"{_without(given)}"
        ),
    )


def _larger_in_larger(facts: PlanFacts) -> str:
    """Why a larger group may have a larger harm, where that is so."""
    if not any(
        row.metric == before.metric and (row.certified or 0) > (before.certified or math.inf)
        for before, row in pairwise(facts.expected)
    ):
        return ""
    *edges, last = (f"{size:,}" for size in EDGES)
    return (
        f" It is larger in some larger groups: from {', '.join(edges)} and {last} users on, groups "
        "are in the next size class, with a cut-off of its own that is higher the more groups a "
        "class has."
    )


def _without(given: Sequence[str]) -> str:
    if not given:
        return ""
    return (
        f" That users are compared given {listed(given)} is no part of this, nor of what is "
        "needed: who is alike in it is not known beforehand."
    )


def _needed(facts: PlanFacts) -> TableView:
    return TableView(
        title="Users needed to rule out a harm beyond tolerance",
        columns=("metric", "group", "users now", "tolerance", "times as many", "users in all"),
        numeric=(False, False, True, True, True, True),
        rows=tuple(
            (
                plain(needed.metric),
                group_label(needed.group),
                f"{needed.users:,}",
                number(needed.tolerance),
                *_growth(needed),
            )
            for needed in facts.needed
        ),
        note=(
            "With 80% probability, where the group has no true difference and all groups grow "
            f"alike.{_not_told(facts)}"
        ),
    )


def _growth(needed: Needed) -> tuple[str, str]:
    if needed.times is None or needed.users_needed is None:
        return f"over {MOST_TIMES:,}", "-"
    times = "enough" if needed.times == 1 else number(needed.times)
    return times, f"{needed.users_needed:,}"


def _not_told(facts: PlanFacts) -> str:
    """How many groups of the fewest attributes have no row."""
    depths = [groups for groups in facts.groups if groups.n_groups]
    if not depths or not facts.needed:
        return ""
    metric, fewest = facts.needed[0].metric, depths[0]
    told = [needed for needed in facts.needed if needed.metric == metric]
    n_left = fewest.n_groups - sum(len(needed.group) == fewest.depth for needed in told)
    if n_left <= 0:
        return ""
    return f" Not shown: {plural(n_left, 'group')} of {plural(fewest.depth, 'attribute')}."


def _costs(facts: PlanFacts) -> TableView:
    users = facts.costs[0].users if facts.costs else 0
    return TableView(
        title=f"What attributes and depth cost a group of {plural(users, 'user')}",
        columns=("leaving out", "groups less", "cut-off", "harms found", "harms ruled out"),
        numeric=(False, True, True, True, True),
        rows=tuple(
            (
                plain(cost.attribute or f"beyond depth {cost.depth}, full intersections kept"),
                f"{cost.n_groups - cost.n_groups_left:,} of {cost.n_groups:,}",
                "-"
                if cost.cut_off_left is None
                else f"{cost.cut_off:.2f} to {cost.cut_off_left:.2f}",
                _smaller(cost.found),
                _smaller(cost.certified),
            )
            for cost in facts.costs
        ),
        note=(
            "Cut-off: standard errors from which a group is found. Computed for a metric without "
            "bounds, and for the median size of the groups of the fewest attributes."
        ),
    )


def _smaller(share: float | None) -> str:
    if share is None:
        return "-"
    if round(share, 3) == 0:
        return "the same"
    return f"{percent(abs(share))} {'smaller' if share > 0 else 'larger'}"
