"""Summary and table of groups -> the view of the page."""

from __future__ import annotations

import polars as pl

from fairrec.core.errors import plain
from fairrec.inputs.users import MISSING
from fairrec.report.mitigation.view import build_mitigation_view
from fairrec.report.page.groups import (
    Groups,
    group_charts,
    metric_correlation,
    pair_maps,
    side_by_side,
    table_rows,
    value_order,
)
from fairrec.report.page.shown_groups import GroupFrame
from fairrec.report.page.view import (
    Carrier,
    Definition,
    Distribution,
    FindingCard,
    GapScale,
    HistoryStep,
    InputFile,
    PageLimits,
    PageView,
    Reproduce,
    SearchHistory,
    Served,
    ValueBar,
    VerdictCard,
)
from fairrec.report.text.view import Verdict, build_view, users_known
from fairrec.report.words import number, p_value, plural, signed
from fairrec.result.mitigation_schema import MitigationSummary
from fairrec.result.schema import AttributeSummary, AuditSummary, Finding, MetricResult

LONGEST_COMMAND = 4000


def build_page_view(
    summary: AuditSummary,
    groups: pl.DataFrame,
    group_file: str = "groups.parquet",
    limits: PageLimits | None = None,
    mitigation: MitigationSummary | None = None,
) -> PageView:
    """The view of a result.

    Parameters
    ----------
    groups : the table of groups, as in `groups.parquet`
    group_file : link to that table
    mitigation : of the lists this audit is of, if they are re-ranked
    """
    limits = limits or PageLimits()
    words = build_view(summary)
    named = Groups(GroupFrame(groups, summary), summary)
    findings, findings_note = _findings(named, limits)
    charts = group_charts(named, limits)
    pairs, pairs_note = pair_maps(named, limits)
    table, table_note = table_rows(named, limits)
    return PageView(
        title=words.title,
        summary=_summary(words.verdicts),
        verdicts=tuple(
            _verdict(at, verdict, result)
            for at, (verdict, result) in enumerate(
                zip(words.verdicts, summary.metrics.values(), strict=True)
            )
        ),
        findings=findings,
        findings_note=findings_note,
        no_findings=_no_findings(words.verdicts),
        charts=charts,
        pairs=pairs,
        pairs_note=pairs_note,
        confidence=f"{100 * (1 - summary.alpha):.3g}%",
        distributions=_distributions(summary, limits),
        metrics=tuple(plain(name) for name in summary.metrics),
        attributes=tuple(plain(name) for name in summary.attributes),
        table=table,
        table_note=table_note,
        side_by_side=side_by_side(named),
        correlation=metric_correlation(named),
        search=words.search,
        histories=_histories(summary),
        coverage=words.coverage,
        notes=words.warnings,
        definitions=tuple(_definition(name, result) for name, result in summary.metrics.items()),
        reproduce=_reproduce(summary),
        group_file=group_file,
        mitigation=None if mitigation is None else build_mitigation_view(mitigation),
    )


def _summary(verdicts: tuple[Verdict, ...]) -> str:
    """The answer in one sentence."""
    found = [verdict.metric for verdict in verdicts if verdict.status == "gap found"]
    clear = [verdict.metric for verdict in verdicts if verdict.status == "no gap detected"]
    untested = [verdict.metric for verdict in verdicts if verdict.status == "not tested"]
    if not (found or clear):
        return "Nothing was tested against chance."
    not_tested = f"; not tested: {', '.join(untested)}" if untested else ""
    if found:
        which = " and ".join(filter(None, (", ".join(found[:-1]), found[-1])))
        rest = f"; no gap detected in {', '.join(clear)}" if clear else ""
        return f"Gap found in {which}{rest}{not_tested}."
    where = f" in {', '.join(clear)}" if untested else ""
    return f"No gap detected{where}, at this support and with this power{not_tested}."


def _no_findings(verdicts: tuple[Verdict, ...]) -> str:
    """What stands in the place of findings where there are none."""
    if all(verdict.status == "not tested" for verdict in verdicts):
        return "Nothing was tested against chance, so nothing could be found."
    return "None. The verdicts above say how large a difference would have been found."


def _verdict(at: int, verdict: Verdict, result: MetricResult) -> VerdictCard:
    return VerdictCard(
        metric=verdict.metric,
        anchor=f"chart-{at}",
        status=verdict.status,
        headline=verdict.headline,
        gap=verdict.gap,
        power=verdict.power,
        mean=number(result.mean),
        scale=_scale(result),
    )


def _scale(result: MetricResult) -> GapScale | None:
    if result.gap is None or result.chance is None:
        return None
    chance = result.chance
    end = 1.08 * max(result.gap, chance.q95, chance.mean) or 1.0
    return GapScale(
        gap=number(result.gap),
        chance=number(chance.mean),
        q95=number(chance.q95),
        is_beyond=result.gap > chance.q95,
        gap_at=round(100 * result.gap / end, 1),
        chance_at=round(100 * chance.mean / end, 1),
        q95_at=round(100 * chance.q95 / end, 1),
        alternative=(
            f"Gap {number(result.gap)}; chance alone shows {number(chance.mean)} on average and "
            f"up to {number(chance.q95)} in 95% of cases; p = {p_value(chance.p_value)}."
        ),
    )


def _findings(groups: Groups, limits: PageLimits) -> tuple[tuple[FindingCard, ...], str]:
    metrics = groups.summary.metrics
    each = max(1, limits.findings // max(1, len(metrics)))
    cards = [
        _finding(name, result, finding, groups)
        for name, result in metrics.items()
        for finding in result.findings[:each]
    ]
    n_more = sum(max(0, len(result.findings) - each) for result in metrics.values())
    return tuple(cards), f"and {n_more:,} more in result.json" if n_more else ""


def _finding(metric: str, result: MetricResult, finding: Finding, groups: Groups) -> FindingCard:
    key = groups.frame.key(finding.group)
    served = _served(finding.difference, result.higher_is_better)
    low, high = finding.interval
    largest = max((abs(part) for part in finding.contributions.values()), default=0.0) or 1.0
    parts = sorted(finding.contributions.items(), key=lambda part: -abs(part[1]))
    return FindingCard(
        metric=plain(metric),
        group=groups.number(key),
        label=groups.label(key),
        served=served,
        users=f"{users_known(finding)} {'user' if finding.n_users == 1 else 'users'}",
        difference=signed(finding.difference),
        sentence=_sentence(metric, finding),
        interval=f"{signed(low)} to {signed(high)}",
        p_adjusted=p_value(finding.p_adjusted),
        carriers=tuple(
            Carrier(
                attribute=plain(f"{name}={finding.group[name]}"),
                part=signed(part),
                share=round(100 * abs(part) / largest, 1),
                is_worse=_served(part, result.higher_is_better) == "worse",
            )
            for name, part in parts
        )
        if len(parts) > 1
        else (),
        folded=(
            f"{plural(finding.n_folded, 'overlapping group')} add"
            f"{'s' if finding.n_folded == 1 else ''} nothing to it"
            if finding.n_folded
            else ""
        ),
    )


def _served(difference: float, higher_is_better: bool | None) -> Served:
    if higher_is_better is None:
        return "differs"
    return "worse" if (difference < 0) == higher_is_better else "better"


def _sentence(metric: str, finding: Finding) -> str:
    """How much worse or better, in words."""
    others = finding.value - finding.difference
    lower = "lower" if finding.difference < 0 else "higher"
    share = ""
    if others > 1e-9 and finding.value >= 0:
        share = f", {abs(finding.difference / others):.0%} {lower}"
    return (
        f"{plain(metric)} is {number(finding.value)} for them and {number(others)} for all "
        f"others{share}."
    )


def _distributions(summary: AuditSummary, limits: PageLimits) -> tuple[Distribution, ...]:
    shown, n_left = [], limits.values
    for name, attribute in summary.attributes.items():
        if n_left <= 0:
            break
        shown.append(_distribution(name, attribute, summary, n_left))
        n_left -= len(shown[-1].bars)
    return tuple(shown)


def _distribution(
    name: str, attribute: AttributeSummary, summary: AuditSummary, most: int
) -> Distribution:
    largest = max(attribute.values.values(), default=1)
    kept = dict([*attribute.values.items()][:most])
    ordered = sorted(kept, key=value_order)
    n_more = attribute.n_values - len(kept)
    n_rest = summary.n_users - sum(kept.values())
    about = [plural(attribute.n_values, "value")]
    if attribute.binning:
        about.append(f"bins of {plain(attribute.binning)}")
    if attribute.n_missing:
        about.append(f"missing for {plural(attribute.n_missing, 'user')}")
    if attribute.n_values_below_support:
        below = plural(attribute.n_values_below_support, "value")
        about.append(f"{below} with fewer than {summary.coverage.min_users:,} users")
    return Distribution(
        attribute=plain(name),
        about=", ".join(about),
        bars=tuple(
            ValueBar(
                value=plain(value),
                users=f"{kept[value]:,}",
                share=_percent(kept[value] / summary.n_users),
                length=round(100 * kept[value] / largest, 1),
                is_small=kept[value] < summary.coverage.min_users,
                is_missing=value == MISSING,
            )
            for value in ordered
        ),
        rest=f"and {plural(n_more, 'smaller value')} with {plural(n_rest, 'user')}"
        if n_more > 0
        else "",
    )


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.1 else f"{share:.1%}" if share >= 0.001 else "<0.1%"


def _histories(summary: AuditSummary) -> tuple[SearchHistory, ...]:
    search = summary.search
    histories = []
    for name, searched in search.metrics.items():
        if not searched.history:
            continue
        last = searched.history[-1]
        histories.append(
            SearchHistory(
                metric=plain(name),
                steps=tuple(HistoryStep(step.users, step.gap) for step in searched.history),
                users_total=search.users_total,
                alternative=(
                    f"The gap in {plain(name)} that the search knew grew from "
                    f"{number(searched.history[0].gap)} to {number(last.gap)} while "
                    f"{last.users:,} of {plural(search.users_total, 'user')} were scored."
                ),
            )
        )
    return tuple(histories)


def _definition(name: str, result: MetricResult) -> Definition:
    directions = {True: "higher is better", False: "lower is better", None: "no end is better"}
    return Definition(
        plain(name), plain(result.definition, 500), directions[result.higher_is_better]
    )


def _reproduce(summary: AuditSummary) -> Reproduce:
    corrections = {"max": "largest statistic (Westfall-Young)", "bh": "Benjamini-Hochberg"}
    support = summary.coverage.min_support
    settings = (
        ("seed", str(summary.seed)),
        ("combined attributes", "all" if summary.depth == "full" else f"up to {summary.depth}"),
        ("smallest group", f"{plural(summary.coverage.min_users, 'user')} ({support:g})"),
        ("permutations", f"{summary.permutations:,}"),
        ("alpha", f"{summary.alpha:g}"),
        ("p-values adjusted by", corrections[summary.correction]),
        ("FairRec", summary.fairrec_version),
        *((plain(name), plain(version)) for name, version in summary.versions.items()),
    )
    return Reproduce(
        command=plain(summary.command, LONGEST_COMMAND),
        settings=settings,
        inputs=tuple(
            InputFile(plain(part), plain(given.name, 300), given.sha256 or "not read from a file")
            for part, given in summary.inputs.items()
        ),
    )
