"""The view: every word and number of a report, sorted and rounded; layouts only print it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fairrec.core.errors import plain
from fairrec.report.words import group_label, number, p_value, plural, signed
from fairrec.result.schema import AuditSummary, Finding, MetricResult, SearchSummary

Status = Literal["gap found", "no gap detected", "not tested"]
FINDINGS_SHOWN = 10
LONGEST_LINE = 2000


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one metric says, in words."""

    metric: str
    status: Status
    headline: str
    gap: str
    power: str


@dataclass(frozen=True, slots=True)
class TableView:
    """A table as text: which columns are numbers, and a row of text each."""

    title: str
    columns: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class ReportView:
    """A report, ready to lay out."""

    title: str
    verdicts: tuple[Verdict, ...]
    findings: TableView
    ends: TableView
    search: tuple[str, ...]
    coverage: tuple[str, ...]
    warnings: tuple[str, ...]
    reproduce: str


def build_view(summary: AuditSummary) -> ReportView:
    """The view of a result."""
    return ReportView(
        title=(
            f"{plural(summary.n_users, 'user')}{_scored(summary.search)}, "
            f"{plural(summary.n_candidates, 'candidate')}, "
            f"groups by {', '.join(plain(name) for name in summary.attributes)}"
        ),
        verdicts=tuple(_verdict(name, result, summary) for name, result in summary.metrics.items()),
        findings=_findings(summary),
        ends=_ends(summary),
        search=_search(summary),
        coverage=_coverage(summary),
        warnings=tuple(plain(warning, LONGEST_LINE) for warning in summary.warnings),
        reproduce=(
            f"{plain(summary.command, LONGEST_LINE)}  (FairRec {summary.fairrec_version}, "
            f"seed {summary.seed})"
        ),
    )


def status_of(result: MetricResult) -> Status:
    """Whether a group stands out.

    Findings alone decide: they are adjusted for all groups and metrics of the audit. The gap
    between full combinations has a p-value of its own, for its metric alone.
    """
    if not (result.is_tested and result.n_groups):
        return "not tested"
    return "gap found" if result.findings else "no gap detected"


def _verdict(name: str, result: MetricResult, summary: AuditSummary) -> Verdict:
    status = status_of(result)
    return Verdict(
        metric=plain(name),
        status=status,
        headline=_headline(status, result, summary),
        gap=" ".join(
            filter(None, (_gap_sentence(result, summary), _bound_sentence(name, summary)))
        ),
        power=_power_sentence(result),
    )


def _headline(status: Status, result: MetricResult, summary: AuditSummary) -> str:
    smallest = plural(summary.coverage.min_users, "user")
    if not result.n_groups:
        scored = "" if summary.search.users_scored == summary.search.users_total else "scored and "
        return f"No group has {smallest} {scored}for whom it is defined."
    looked_at = f"{plural(result.n_groups, 'group')} of at least {smallest}"
    if status == "not tested":
        return f"{looked_at}, without a test against chance."
    if not result.findings:
        return (
            f"None of {looked_at} differs from the rest by more than chance "
            f"(alpha {summary.alpha:g})."
        )
    first = result.findings[0]
    differ = (
        "1 group differs" if len(result.findings) == 1 else f"{len(result.findings)} groups differ"
    )
    return (
        f"{differ} from the rest by more than chance. {_served(first, result)}: "
        f"{group_label(first.group)} ({signed(first.difference)}, {users_known(first)} "
        f"{'user' if first.n_users == 1 else 'users'})."
    )


def _served(finding: Finding, result: MetricResult) -> str:
    """How to introduce the first finding, which is the worst one."""
    if result.higher_is_better is None:
        return "Furthest from the rest"
    is_worse = (finding.difference < 0) == result.higher_is_better
    return "Served worst" if is_worse else "Served better than the rest"


def _gap_sentence(result: MetricResult, summary: AuditSummary) -> str:
    if result.gap is None and summary.search.n_not_verified:
        return (
            "Too few users were scored to know two full combinations in full, and a gap needs two."
        )
    if result.gap is None:
        return "No full combination of attributes has enough users for a gap between them."
    which = "Best and worst" if result.higher_is_better is not None else "Highest and lowest"
    ends = f"{which} full combination are {number(result.gap)} apart"
    if result.chance is None:
        return f"{ends}."
    chance = result.chance
    # no verdict in these words: findings are adjusted for all metrics, this p-value is not
    return (
        f"{ends}; chance alone shows {number(chance.mean)} on average and up to "
        f"{number(chance.q95)} in 95% of cases (p = {p_value(chance.p_value)} for this metric by "
        "itself)."
    )


def _bound_sentence(name: str, summary: AuditSummary) -> str:
    """What a search may have missed."""
    search = summary.search
    gap = summary.metrics[name].gap
    if not search.n_not_verified or name not in search.metrics or gap is None:
        return ""
    bound = search.metrics[name].may_be_larger_by
    if bound is None:
        return (
            f"{plural(search.n_not_verified, 'full combination')} not scored in full may lie "
            "beyond."
        )
    if number(bound) == "0":
        return f"As far as the search can tell ({search.confidence:.0%}), that is the exact gap."
    return (
        f"The exact gap is at most {number(gap + bound)}, as far as the search can tell "
        f"({search.confidence:.0%})."
    )


def _power_sentence(result: MetricResult) -> str:
    if not result.is_tested or result.findings or not result.n_groups:
        return ""
    if not result.detectable:
        return "No possible difference would be found 4 times in 5 in groups of these sizes."
    sizes = ", ".join(
        f"{number(d.difference)} in a group of {d.support:,}" for d in result.detectable
    )
    return f"A true difference this large would be found 4 times in 5: {sizes}."


def _findings(summary: AuditSummary) -> TableView:
    rows, n_more = [], 0
    found = [finding for result in summary.metrics.values() for finding in result.findings]
    for name, result in summary.metrics.items():
        n_more += max(0, len(result.findings) - FINDINGS_SHOWN)
        for finding in result.findings[:FINDINGS_SHOWN]:
            low, high = finding.interval
            rows.append(
                (
                    plain(name),
                    group_label(finding.group),
                    users_known(finding),
                    number(finding.value),
                    signed(finding.difference),
                    f"{signed(low)} to {signed(high)}",
                    p_value(finding.p_adjusted),
                    _carriers(finding),
                )
            )
    return TableView(
        title="Groups that differ from all other users by more than chance, worst first",
        columns=(
            *("metric", "group", "users", "value", "difference"),
            *("interval", "p adjusted", "carried by"),
        ),
        numeric=(False, False, True, True, True, True, True, False),
        rows=tuple(rows),
        note=" ".join(
            [f"and {n_more:,} more in result.json"] * bool(n_more)
            + ["Where not all users of a group are scored, its value is that of a few at random."]
            * any(not finding.is_whole for finding in found)
        ),
    )


def users_known(finding: Finding) -> str:
    """How many users the finding rests on."""
    if finding.is_whole:
        return f"{finding.support:,}"
    return f"{finding.support:,} of {finding.n_users:,}"


def _carriers(finding: Finding) -> str:
    """The conditions in order of their share of the difference."""
    if len(finding.contributions) < 2:
        return ""
    parts = sorted(finding.contributions.items(), key=lambda part: -abs(part[1]))
    return ", ".join(f"{plain(name)} {signed(share)}" for name, share in parts)


def _ends(summary: AuditSummary) -> TableView:
    rows = []
    for name, result in summary.metrics.items():
        if result.gap is None:
            continue
        names = ("best", "worst") if result.higher_is_better is not None else ("highest", "lowest")
        both = (result.most_advantaged, result.most_disadvantaged)
        for which, ends in zip(names, both, strict=True):
            for place, end in enumerate(ends, start=1):
                rows.append(
                    (
                        plain(name),
                        which if len(ends) == 1 else f"{which} {place}",
                        group_label(end.group),
                        f"{end.support:,}",
                        number(end.value),
                    )
                )
    return TableView(
        title="Full combinations at both ends",
        columns=("metric", "end", "group", "users", "value"),
        numeric=(False, False, False, True, True),
        rows=tuple(rows),
    )


def _scored(search: SearchSummary) -> str:
    if search.users_scored == search.users_total:
        return ""
    return f" ({search.users_scored:,} of them scored)"


def _search(summary: AuditSummary) -> tuple[str, ...]:
    """How users were chosen for scoring; nothing where all scores were at hand."""
    search = summary.search
    if not search.metrics:
        return ()
    endings = {
        "finished": "it had finished",
        "users spent": f"the budget of {plural(search.budget_users or 0, 'user')} was spent",
        "time spent": f"the budget of {search.budget_seconds or 0:g} s was spent",
    }
    share = search.users_scored / search.users_total
    lines = [
        f"The searcher {search.name} scored {search.users_scored:,} of "
        f"{plural(search.users_total, 'user')} ({share:.1%}) and ended because "
        f"{endings[search.ending]}."
    ]
    n_full = search.n_verified + search.n_not_verified
    if search.n_not_verified:
        lines.append(
            f"Scored in full: {search.n_verified:,} of {plural(n_full, 'full combination')}. "
            "The gap is measured between these only."
        )
    if search.users_scored < search.users_total:
        lines.append(
            f"Drawn at random before anything was scored: "
            f"{plural(search.users_reference, 'user')}. Means over all, and tests of groups not "
            "scored in full, rest on them."
        )
    before = f", and {search.users_before:,} users' scores were in the ledger"
    name = f" ({plain(search.model_identity, 200)})" if search.model_identity else ""
    lines.append(
        f"The recommender{name} was asked for {plural(search.rows_paid, 'score')} in "
        f"{plural(search.calls, 'call')}{before if search.users_before else ''}."
    )
    if search.faults:
        kinds = ", ".join(f"{n:,} x {plain(kind)}" for kind, n in search.faults.items())
        lines.append(f"Calls that failed and were tried again: {kinds}.")
    spent = search.spent_in_all
    if spent is not None and spent.calls > search.calls:
        lines.append(
            f"The ledger holds the scores of {plural(spent.users, 'user')}, paid for in "
            f"{plural(spent.calls, 'call')} that took {number(spent.seconds)} s in all."
        )
    return tuple(lines)


def _coverage(summary: AuditSummary) -> tuple[str, ...]:
    seen = summary.coverage
    lines = [
        f"{seen.n_full:,} of {seen.n_full_observed:,} full combinations that occur "
        f"({seen.n_full_possible} possible) have at least {seen.min_users:,} users; "
        f"{seen.n_users_below:,} of {summary.n_users:,} users are in smaller ones."
    ]
    n_groups = sum(depth.n_groups for depth in seen.by_depth.values())
    n_below = sum(depth.n_groups_below for depth in seen.by_depth.values())
    if len(seen.by_depth) > 1:
        lines.append(
            f"At all depths: {plural(n_groups, 'group')} looked at, {n_below:,} too small."
        )
    for name, attribute in summary.attributes.items():
        if attribute.n_values_below_support:
            shown = ", ".join(
                f"{plain(v)} ({n:,})" for v, n in [*attribute.small_values.items()][:5]
            )
            n_more = attribute.n_values_below_support - min(5, len(attribute.small_values))
            rest = f" and {n_more:,} more" if n_more else ""
            lines.append(f"{plain(name)}: too few users with value {shown}{rest}.")
    return tuple(lines)
