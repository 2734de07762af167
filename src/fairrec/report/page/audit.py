"""The page of an audit: its sections, from the result and the table of groups."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from datetime import UTC
from typing import NamedTuple
from urllib.parse import quote

import polars as pl

from fairrec.core.errors import plain
from fairrec.inputs.users import Value
from fairrec.report.answer import Answer, Served
from fairrec.report.covariates import compared_with, difference_name, explained, no_longer_lines
from fairrec.report.findings import (
    FoundGroup,
    because_of,
    format_difference,
    mean_outside,
    simultaneous_interval,
    users_known,
)
from fairrec.report.metric_words import (
    end_words,
    harm_word,
    is_sampled,
    mean_over,
    p_adjusted,
    scored,
)
from fairrec.report.missing import describe_unknown
from fairrec.report.page.dots import audit_dots, describe_rows
from fairrec.report.page.figures import (
    AXIS_VALUES,
    POINTS,
    describe_pair,
    group_chart,
    pair_map,
    rank_pairs,
    ruled_out_curve,
    search_history,
)
from fairrec.report.page.groups import PageGroups
from fairrec.report.page.html import Chart, Section, definition_table, write_page
from fairrec.report.ratios import ratio_table
from fairrec.report.verdict import outcome_words
from fairrec.report.view import LONGEST_NAME, ReportView, about_model, build_view, settings_line
from fairrec.report.words import (
    TableView,
    confidence,
    group_label,
    number,
    numbers,
    percent,
    plural,
    rounded_up,
    signed_with_interval,
)
from fairrec.result.folder import AuditRun
from fairrec.result.schema import AuditSummary
from fairrec.statistics.findings import Finding

CARDS, CARDS_SHOWN = 60, 10
TABLE_ROWS, TABLE_ROWS_SHOWN = 1000, 50
RATIO_ROWS = 300
PAIRS, CELLS = 10, 2000
"""Pairs of attributes with maps, and the cells in all of them."""
OVERLAPPING = 8
LONGEST_COMMAND = 4000


def page_html(
    summary: AuditSummary,
    groups: pl.DataFrame,
    group_file: str = "groups.parquet",
    run: AuditRun | None = None,
    *,
    kind: str = "audit",
    answer: Answer | None = None,
    lead: Sequence[Section] = (),
) -> str:
    """The page of a result.

    Parameters
    ----------
    groups : the table of groups, as in `groups.parquet`
    group_file : where that table is, from the page
    run : when it was made; left out by default
    kind, answer, lead : of a feature that the audit is a part of, before its own sections
    """
    named = PageGroups(groups, summary)
    words = build_view(summary, groups)
    heading = plain(summary.title, LONGEST_NAME)
    made_at = f"{run.made_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if run else ""
    facts = (heading, about_model(summary), plain(summary.author, LONGEST_NAME), made_at)
    dots = _dots(named)
    sections = [
        _findings(named),
        _verdicts(named, words),
        _ruled_out(named),
        _groups(named),
        _pairs(named),
        _table(named, quote(os.fsencode(group_file))),
        _ratios(summary),
        _search(summary, words),
        _coverage(words),
        Section(
            "definitions", "What the metrics mean", tables=(definition_table(summary.metrics),)
        ),
        _reproduce(summary),
    ]
    shown = [section for section in sections if section is not None]
    return write_page(
        kind,
        answer or words.answer,
        [*lead, *([dots] if lead and dots else []), *shown],
        title=heading or words.title,
        facts=[fact for fact in facts if fact],
        first=None if lead else dots,
    )


def _dots(groups: PageGroups) -> Section | None:
    plots = audit_dots(groups)
    if not plots:
        return None
    return Section(
        "dots",
        f"Groups beside {compared_with(groups.summary)}",
        dots=plots,
        notes=(describe_rows(groups, plots[0]),),
        template="dots.html.j2",
        content={"unit": groups.summary.unit},
    )


class GroupCard(NamedTuple):
    """A group that differs significantly, with its findings as a table and in sentences."""

    number: int
    label: str
    served: Served
    tag: str
    users: str
    table: TableView
    lines: tuple[str, ...]
    metric: str


def _findings(groups: PageGroups) -> Section:
    summary = groups.summary
    cards = [group_card(found, groups) for found in groups.found[:CARDS]]
    n_more = len(groups.found) - len(cards)
    lead = (
        f"Groups that differ significantly from {compared_with(summary)}, adjusted for every "
        "group and metric tested. Intervals hold for all groups and metrics at once; shrinkage "
        "corrects sizes for selection."
    )
    if summary.adjustment is not None:
        lead += " Differences and intervals are adjusted; values are not, so they may disagree."
    if not cards:
        is_tested = any(result.is_tested for result in summary.metrics.values())
        lead = (
            "None. This does not show that groups are equal: see what is ruled out, below."
            if is_tested
            else "Nothing was tested for significance."
        )
    return Section(
        "findings",
        "Groups that differ",
        sentences=(lead,),
        notes=(f"and {plural(n_more, 'more group')} in result.json",) if n_more else (),
        template="findings.html.j2",
        content={
            "cards": cards,
            "cards_shown": CARDS_SHOWN,
            "overlaps": overlaps(groups),
            "no_longer": no_longer_lines(summary),
            "unit": summary.unit,
            "places": {name: at for at, name in enumerate(groups.drawn)},
        },
    )


def group_card(found: FoundGroup, groups: PageGroups) -> GroupCard:
    """The card of a group."""
    summary, unit = groups.summary, groups.summary.unit
    name, first = found.first
    words = end_words(name, unit)
    tags = {"worse": words.worse, "better": words.better, "differs": "differs"}
    unadjusted = "" if summary.adjustment is None else ", unadjusted"
    level = confidence(summary.alpha)
    table = TableView(
        title=f"Metrics of {group_label(found.group)}",
        columns=(
            *("metric", f"value{unadjusted}", f"all others{unadjusted}"),
            *(difference_name(summary), "shrunken", f"{level} interval, all at once"),
            *("adjusted p", "verdict"),
        ),
        numeric=(False, *(True,) * 6, False),
        rows=tuple(_finding_cells(metric, finding, summary) for metric, finding in found.findings),
    )
    lines = [because_of(first, words)]
    for metric, finding in found.findings:
        result = summary.metrics[metric]
        details = (
            explained(finding, summary),
            describe_unknown(finding, result, summary),
        )
        lines += [f"{plain(metric)}: {detail}" for detail in details if detail]
    if first.n_folded:
        lines.append(f"{plural(first.n_folded, 'overlapping group')} explained by this one.")
    share = percent(first.n_users / summary.n_users)
    return GroupCard(
        number=groups.number(found.group),
        label=group_label(found.group),
        served=found.served,
        tag=tags[found.served],
        users=f"{users_known(first)} {unit.noun(first.n_users)} ({share})",
        table=table,
        lines=tuple(filter(None, lines)),
        metric=name,
    )


def _finding_cells(metric: str, finding: Finding, summary: AuditSummary) -> tuple[str, ...]:
    result, words = summary.metrics[metric], end_words(metric, summary.unit)
    return (
        plain(metric),
        *numbers(finding.value, mean_outside(finding)),
        format_difference(finding),
        format_difference(finding, finding.shrunken_difference),
        simultaneous_interval(finding),
        p_adjusted(finding.p_adjusted, summary),
        outcome_words(finding, result, words, summary),
    )


class OverlapRow(NamedTuple):
    """A group and the share of its users in each group; None in its own place."""

    label: str
    cells: list[tuple[str, float | None]]


def overlaps(groups: PageGroups) -> list[OverlapRow]:
    """How many users the first findings share; empty where there are fewer than two.

    The users that two groups share are the group by the conditions of both, which the table of
    groups has unless it is too small or by too many attributes.
    """
    found = groups.found[:OVERLAPPING]
    if len(found) < 2:
        return []
    summary = groups.summary
    conditions = [dict(one.group) for one in found]
    keys = {groups.key({**one, **other}) for one in conditions for other in conditions}
    known = groups.rows(groups.select(found[0].first[0], keys))
    sizes = {groups.key(one.group): one.support for one in known}
    deepest = len(groups.names) if summary.depth == "full" else summary.depth

    def cell(one: dict[str, Value], other: dict[str, Value]) -> tuple[str, float | None]:
        both = {**one, **other}
        own, shared = sizes.get(groups.key(one)), sizes.get(groups.key(both))
        if one is other:
            return "-" if own is None else f"{own:,}", None
        if any(one.get(name, value) != value for name, value in other.items()):
            return "0", 0.0
        if own and shared is not None:
            return percent(shared / own), min(1.0, shared / own)
        is_small = len(both) <= deepest or len(both) == len(groups.names)
        return f"<{summary.coverage.min_users:,}" if is_small else "?", 0.0

    return [
        OverlapRow(group_label(one), [cell(one, other) for other in conditions])
        for one in conditions
    ]


def _verdicts(groups: PageGroups, words: ReportView) -> Section:
    summary = groups.summary
    means = [
        f"{mean_over(result, summary)}: {number(result.mean)}"
        for result in summary.metrics.values()
    ]
    places = [
        groups.drawn.index(name) if name in groups.drawn else None for name in summary.metrics
    ]
    return Section(
        "verdicts",
        "Verdict for each metric",
        template="verdicts.html.j2",
        content={"verdicts": [*zip(words.verdicts, means, places, strict=True)]},
    )


def _ruled_out(groups: PageGroups) -> Section | None:
    summary = groups.summary
    charts = []
    for name in groups.drawn:
        result = summary.metrics[name]
        if result.verdict is None or not result.verdict.certificate or result.is_constant:
            continue
        steps = result.verdict.certificate
        table = TableView(
            title=f"The curve of {plain(name)} as a table",
            columns=(f"{scored(summary).many}, at least", f"largest {harm_word(result)}", "groups"),
            numeric=(True, True, True),
            rows=tuple(
                (f"{step.support:,}", rounded_up(step.harm), f"{step.n_groups:,}") for step in steps
            ),
        )
        figure = ruled_out_curve(groups, name, steps)
        first, last = (
            f"{rounded_up(step.harm)} for {scored(summary).count(step.support)} or more"
            for step in (steps[0], steps[-1])
        )
        description = f"From {first} to {last}." if len(steps) > 1 else f"{first}."
        charts.append(Chart(plain(name), figure, description, table))
    if not charts:
        return None
    return Section(
        "ruled-out",
        "What is ruled out",
        sentences=(
            "Harms above the line are ruled out simultaneously for all groups of at least that "
            "size, except findings. Harms below it, shaded, remain possible."
            + " Dashed: the tolerance."
            * (summary.tolerance is not None),
        ),
        charts=charts,
    )


def _groups(groups: PageGroups) -> Section:
    summary = groups.summary
    charts = []
    for name in groups.drawn:
        result, sizes = summary.metrics[name], groups.of_metric[name]["support"].to_list()
        description = (
            f"{plain(name)} of {plural(len(sizes), 'group')} of {min(sizes):,} to "
            f"{max(sizes):,} {summary.unit.many}, against their size; the "
            f"{mean_over(result, summary)} is {number(result.mean)}, dashed. "
            f"{plural(len(result.findings), 'finding')}."
        )
        most = POINTS // len(groups.drawn)
        if len(sizes) > most:
            description += (
                f" At most {most:,} groups are drawn: findings, the lowest p-values and a sample "
                "of the others."
            )
        charts.append(Chart(plain(name), group_chart(groups, name), description))
    notes = ["Click a point, or the name of a group in the table, to mark it in every chart."]
    if len(groups.drawn) < len(summary.metrics):
        n_drawn, n_all = len(groups.drawn), len(summary.metrics)
        notes.append(f"Charts are drawn for {n_drawn} of {n_all} metrics.")
    sampled = " Rings are known from the random sample only." if is_sampled(summary) else ""
    return Section(
        "groups",
        "Groups by size",
        sentences=(
            "Every point is a group; small groups scatter widely by chance. Diamonds are findings: "
            f"orange is worse, blue is better, grey: neither direction is better.{sampled}",
        ),
        charts=charts,
        notes=notes,
        data={
            "metrics": [[plain(name), f"groups-{at}"] for at, name in enumerate(groups.drawn)],
            # what a difference beside an unadjusted value is called
            "adjusted": "" if summary.adjustment is None else difference_name(summary),
            "unit": summary.unit.many,
        },
    )


def _pairs(groups: PageGroups) -> Section | None:
    summary = groups.summary
    ranked = rank_pairs(groups)
    if not ranked:
        return None
    parts = {name: groups.pairs(name) for name in groups.drawn}
    first = groups.found[0].first[0] if groups.found else groups.drawn[0]
    metrics = sorted((name for name in groups.drawn if parts[name]), key=lambda name: name != first)
    names: list[str] = []
    charts: list[Chart] = []
    places = []
    for pair in ranked[:PAIRS]:
        if sum(len(chart.figure.data["cells"]) for chart in charts) > CELLS:
            break
        names.append(" and ".join(map(plain, pair)))
        for at, name in enumerate(metrics):
            if pair in parts[name]:
                figure = pair_map(groups, name, pair, parts[name][pair])
                description = describe_pair(figure, name, names[-1], summary)
                places.append({"pair": len(names) - 1, "metric": at})
                charts.append(Chart(plain(name), figure, description))
    notes = []
    if len(names) < len(ranked):
        notes.append(f"{len(names):,} of {len(ranked):,} pairs of attributes are drawn.")
    if any(groups.summary.attributes[name].n_values > AXIS_VALUES for name in groups.names):
        notes.append(f"Of an attribute with more values, {AXIS_VALUES} are drawn.")
    return Section(
        "pairs",
        "Two attributes at a time",
        sentences=(
            f"{difference_name(summary).capitalize()} of each combination of two values from "
            f"{compared_with(summary)}. Findings are outlined; faded cells are not significant. "
            "Orange is worse, blue is better.",
        ),
        charts=charts,
        notes=notes,
        template="pairs.html.j2",
        content={"names": names, "metrics": [*map(plain, metrics)]},
        data={
            "pairs": [
                {**place, "chart": f"pairs-{at}", "words": chart.description}
                for at, (place, chart) in enumerate(zip(places, charts, strict=True))
            ]
        },
    )


class TableRow(NamedTuple):
    """A group and a metric in the table.

    Parameters
    ----------
    attributes : the positions of those it names
    numbers : what the page sorts by and downloads
    """

    group: int
    metric: str
    label: str
    attributes: tuple[int, ...]
    cells: tuple[str, ...]
    numbers: tuple[float | None, ...]
    is_finding: bool


def _table(groups: PageGroups, group_file: str) -> Section:
    summary = groups.summary
    level = confidence(summary.alpha)
    rows = table_rows(groups)
    n_all = sum(frame.height for frame in groups.of_metric.values())
    interval = f"{level} interval, all at once"
    return Section(
        "table",
        "All groups",
        template="table.html.j2",
        content={
            "rows": rows,
            "rows_shown": TABLE_ROWS_SHOWN,
            # the place of the number that each is sorted by
            "columns": (
                *(("metric", None), ("group", None), (summary.unit.many, 0), ("value", 1)),
                *((difference_name(summary), 2), (interval, 3), ("p adjusted", 5)),
            ),
            "metrics": [*map(plain, summary.metrics)],
            "attributes": [*map(plain, groups.names)],
            "unit": summary.unit,
            "group_file": group_file,
            "n_left_out": n_all - len(rows),
        },
        data={
            "table": {
                "n_all": n_all,
                "names": [
                    *(summary.unit.many, "value", difference_name(summary)),
                    *(f"{interval}, low", f"{interval}, high", "p adjusted"),
                ],
                "columns": [[row.numbers[at] for row in rows] for at in range(6)],
            }
        },
    )


def table_rows(groups: PageGroups) -> list[TableRow]:
    """The rows of the table, lowest p-value first."""
    summary = groups.summary
    most = max(1, TABLE_ROWS // len(summary.metrics))
    ranked: list[tuple[float, int, TableRow]] = []
    for metric in summary.metrics:
        found, result = groups.finding_keys(metric), summary.metrics[metric]
        for place, one in enumerate(groups.rows(groups.sample(metric, most))):
            key, p = groups.key(one.group), one.p_adjusted
            exact = (one.support, one.value, one.difference, one.low, one.high, p)
            row = TableRow(
                group=groups.number(one.group),
                metric=plain(metric),
                label=group_label(one.group),
                attributes=tuple(at for at, value in enumerate(key) if value is not None),
                cells=(
                    f"{one.support:,}",
                    number(one.value, result.mean),
                    *signed_with_interval(one.difference, one.low, one.high),
                    "-" if p is None else p_adjusted(p, summary),
                ),
                numbers=tuple(
                    None if value is None or not math.isfinite(value) else float(f"{value:.9g}")
                    for value in exact
                ),
                is_finding=key in found,
            )
            ranked.append((math.inf if p is None else p, place, row))
    return [row for _, _, row in sorted(ranked, key=lambda one: one[:2])]


def _ratios(summary: AuditSummary) -> Section | None:
    table = ratio_table(summary, RATIO_ROWS)
    return Section("ratios", "Ratios", tables=(table,)) if table.rows else None


def _search(summary: AuditSummary, words: ReportView) -> Section | None:
    if not words.search:
        return None
    search = summary.search
    charts = []
    for name, searched in search.metrics.items():
        if searched.history:
            first, last = searched.history[0], searched.history[-1]
            description = (
                f"The largest gap found in {plain(name)} grew from {number(first.gap)} to "
                f"{number(last.gap)} while {last.users:,} of "
                f"{summary.unit.count(search.users_total)} were scored."
            )
            figure = search_history(name, searched.history, summary.unit)
            charts.append(Chart(plain(name), figure, description))
    return Section("search", "Search", sentences=words.search, charts=charts)


def _coverage(words: ReportView) -> Section:
    notes = [note.text for note in words.answer.notes if note.kind == "note"]
    return Section("data", "Data and coverage", sentences=words.coverage, warnings=notes)


def _reproduce(summary: AuditSummary) -> Section:
    settings = {
        "settings from": settings_line(summary),
        "seed": str(summary.seed),
        "combined attributes": "all" if summary.depth == "full" else f"up to {summary.depth}",
        "smallest group": summary.unit.count(summary.coverage.min_users),
        "permutations drawn": f"{summary.permutations_drawn:,}",
        "largest share without a value": f"{summary.max_undefined:g}",
        "significance level": f"{summary.alpha:g}",
        "p-values adjusted by": "weighted minP (Westfall and Young): family-wise error rate",
        "FairRec": summary.fairrec_version,
        **{plain(name): plain(version) for name, version in summary.versions.items()},
    }
    rows = tuple((name, value) for name, value in settings.items() if value)
    inputs = tuple(
        (plain(part), plain(given.name, 300), given.sha256 or "not read from a file")
        for part, given in summary.inputs.items()
    )
    return Section(
        "reproduce",
        "Reproduce",
        tables=(
            TableView("Settings and versions", ("setting", "value"), (False, False), rows),
            TableView("Tables that were read", ("table", "file", "SHA-256"), (False,) * 3, inputs),
        ),
        command=plain(summary.command, LONGEST_COMMAND),
    )
