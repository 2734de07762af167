"""What a plan can find and rule out, in tables."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fairrec.auditing.plan_file import PlanFacts
from fairrec.core.errors import listed, plain
from fairrec.planning.expectations import MOST_GROUPS
from fairrec.report.answer import Answer, AnswerTable, Block, Note, Row
from fairrec.report.text import write_markdown
from fairrec.report.words import TableView, group_label, number, plural
from fairrec.statistics.power import MOST_TIMES


@dataclass(frozen=True, slots=True)
class PlanView:
    """A plan, ready to print."""

    answer: Answer
    tables: tuple[TableView, ...]


def plan_view(facts: PlanFacts, n_settled: int = 0) -> PlanView:
    """The users needed for the tolerance where one is set, else what can be found.

    Parameters
    ----------
    n_settled : groups left out of `needed`, as an audit has a verdict on them
    """
    settled = f"Not listed: {plural(n_settled, 'group')} worse or within tolerance in the audit"
    expected, needed = _expected(facts), _needed(facts)
    # the groups that need users stand in the first column, beside their metric
    shown, n_labels = (needed, 2) if needed.rows else (expected, 1)
    n_groups = sum(groups.n_groups for groups in facts.groups)
    rows = tuple(Row(" ".join(row[:n_labels]), row[n_labels:]) for row in shown.rows)
    columns = (shown.columns[0], *shown.columns[n_labels:])
    block = Block("", rows, "more rows: --verbose", is_ranked=True)
    answer = Answer(
        tone="open",
        headline=(
            f"{plural(facts.n_users, 'user')}, {plural(n_groups, 'group')} of at least "
            f"{plural(facts.min_users, 'user')} by {listed(facts.attributes)}"
        ),
        about=(f"{shown.title}:",) if rows else (),
        notes=(Note("note", settled),) if n_settled else (),
        table=AnswerTable(columns, (False, *(True,) * len(columns[1:])), (block,))
        if rows
        else None,
        sentences=(shown.note,) if rows else (),
    )
    return PlanView(answer, tuple(t for t in (_groups(facts), expected, needed) if t.rows))


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
                *(_count(n) for n in (groups.n_groups, groups.n_groups_below)),
                *(_count(n) for n in (groups.smallest, groups.median, groups.largest)),
            )
            for groups in facts.groups
        ),
        note="Sizes in users of the users table, whether or not they will have a value.",
    )


def _expected(facts: PlanFacts) -> TableView:
    unit = "" if facts.spread else ", in standard deviations among users"
    return TableView(
        title=f"Harm found and ruled out with 80% probability{unit}",
        columns=("metric", "group size", "groups", "found", "ruled out", "median"),
        numeric=(False, *(True,) * 5),
        rows=tuple(
            (
                plain(row.metric),
                _count(row.users),
                _count(row.n_groups),
                *(number(harm) for harm in (row.harm, row.certified, row.certified_median)),
            )
            for row in facts.expected
        ),
        note=(
            "Found: the smallest true harm that is shown. Ruled out: where a group has no true "
            "difference, that it is worse by more than this, for all groups at once; median: in "
            "half of all audits. A dash: none, for lack of permutations or of groups about as "
            "large. Covariates are not taken into account."
        ),
    )


def _needed(facts: PlanFacts) -> TableView:
    n_groups = next((one.n_groups for one in facts.groups if one.n_groups), 0)
    note = "With 80% probability, if all groups grow alike."
    if n_groups > MOST_GROUPS:
        note += " Only the largest groups and the smallest are listed."
    return TableView(
        title="If a group has no true difference, users needed to rule out a harm beyond tolerance",
        columns=("metric", "group", "users now", "tolerance", "times as many", "users in all"),
        numeric=(False, False, *(True,) * 4),
        rows=tuple(
            (
                plain(row.metric),
                group_label(row.group),
                _count(row.users),
                number(row.tolerance),
                f"over {MOST_TIMES:,}" if row.times is None else number(row.times),
                _count(row.users_needed),
            )
            for row in facts.needed
        ),
        note=note,
    )


def _count(n: int | None) -> str:
    return "-" if n is None else f"{n:,}"
