"""The answer of an audit: who is worse off, by how much, numbers by group, what to do next."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import polars as pl
from scipy.special import ndtri

from fairrec.core.errors import listed, plain
from fairrec.core.options import spell_in
from fairrec.inputs.users import Value
from fairrec.metrics.direction import harm, worse_ends
from fairrec.metrics.value_columns import find_metric
from fairrec.report.answer import Answer, AnswerTable, Block, Note, Row, Served, Tone
from fairrec.report.covariates import covariate_names, difference_name
from fairrec.report.findings import (
    FoundGroup,
    found_groups,
    mean_outside,
    other_side,
    undecided_headline,
    users_known,
)
from fairrec.report.metric_words import (
    USUAL_SIZE,
    end_words,
    exact_instead,
    is_sampled,
    is_worse,
    of_two_lists,
    p_adjusted,
    summarize_ruled_out,
    usual_certificate,
    worse_word,
)
from fairrec.report.verdict import SAME, Verdict, build_status, is_cut
from fairrec.report.words import (
    MINUS,
    confidence,
    group_label,
    number,
    numbers,
    p_is,
    p_value,
    percent,
    plural,
    shown,
    value_order,
    with_and,
)
from fairrec.result.metric_schema import MetricResult
from fairrec.result.schema import AuditSummary
from fairrec.result.tables import row_group
from fairrec.statistics.findings import Finding
from fairrec.statistics.power import POWER
from fairrec.statistics.simultaneous import least_permutations
from fairrec.statistics.verdict import WITHIN, outcome_position

MOST_VALUES = 8
"""Values of an attribute that are printed as rows; of more, those that are significant."""
LEAST_SERVED = 5
"""Values of an attribute with many that are rows where no group would be one."""
_GUIDES = "docs/how-to"


def audit_answer(
    summary: AuditSummary,
    verdicts: tuple[Verdict, ...],
    notes: Sequence[Note] = (),
    groups: pl.DataFrame | None = None,
    folder: str = "AUDIT",
    *,
    is_saved: bool = True,
) -> Answer:
    """The answer of an audit.

    Parameters
    ----------
    notes : what is to be known before any number
    groups : the table of groups; None for words alone
    folder : where it is written, as a shell takes it
    is_saved : whether it is written at all; commands that read it come after saving it
    """
    found = found_groups(summary)
    headline, detail = _of_found(found, summary) if found else _of_none(summary, verdicts)
    first = headline_metric(summary, found)
    # no harm in a metric is left out for want of room before those without any
    worse = {name for group in found if group.served == "worse" for name, _ in group.findings}
    others = [name for name in by_importance(summary) if name != first]
    others.sort(key=lambda name: name not in worse)
    steps = _next_steps(found, summary, folder, groups, first)
    if not is_saved and any(f" {folder}" in step for step in steps):
        out = spell_in(summary.command, "out", folder)
        steps = (f"{steps[0]}, after saving this audit ({out})", *steps[1:])
    ruled_out = summarize_ruled_out(summary.metrics[first], summary, _worst(found, summary, first))
    return Answer(
        tone=_tone(verdicts, summary),
        headline=headline,
        about=tuple(filter(None, (detail, _audited(summary)))),
        notes=tuple(notes),
        table=None
        if groups is None or summary.metrics[first].is_constant
        else group_numbers(summary, groups, first, found),
        sentences=(f"Ruled out: {ruled_out}.",) if ruled_out else (),
        others=tuple(_other_metric(name, found, summary) for name in others),
        next_steps=steps,
        named=group_label(_told(found, summary)) if found else "",
    )


def _worst(found: Sequence[FoundGroup], summary: AuditSummary, metric: str) -> str:
    """The groups that are worse in a metric, of which nothing is ruled out, in a few words."""
    result = summary.metrics[metric]
    verdict = result.verdict
    n = 0 if verdict is None else verdict.n_worse + verdict.n_worse_beyond_tolerance
    mine = [dict(one.findings).get(metric) for one in found]
    worse = [
        one for one in mine if one is not None and is_worse(one, result) and not _is_within(one)
    ]
    if n != 1 or not worse:
        word = "different" if result.higher_is_better is None else "worse"
        which = "group" if n == 1 else f"{n:,} groups"
        overlap = ", overlapping ones included" if n > max(1, len(worse)) else ""
        return f"the {which} shown to be {word}{overlap}" if n else ""
    ends = [end for end in worse[0].simultaneous if end is not None]
    reach = max((harm(end, result.higher_is_better) for end in ends), default=0.0)
    label = group_label(worse[0].group)
    return f"{label} ({worse_word(result)} by up to {number(reach)})" if len(ends) == 2 else label


def headline_metric(summary: AuditSummary, found: Sequence[FoundGroup]) -> str:
    """The metric of the table: that of the worst finding, else the first one of accuracy."""
    has_end = any(one.higher_is_better is not None for one in summary.metrics.values())
    if found and (found[0].served == "worse" or not has_end):
        return found[0].first[0]
    return by_importance(summary)[0]


def by_importance(summary: AuditSummary) -> list[str]:
    """Metrics of accuracy first, then others with a better end, then the rest."""

    def place(name: str) -> tuple[bool, bool]:
        metric = find_metric(name)
        is_accuracy = metric is None or "labels" in metric.needs
        return summary.metrics[name].higher_is_better is None, not is_accuracy

    return sorted(summary.metrics, key=place)


def _audited(summary: AuditSummary) -> str:
    """Who was audited, with what, in how many groups."""
    lists = ""
    if summary.measured_by not in ("values", None):
        lists = f", {plural(summary.n_candidates, summary.measured_by.removesuffix('s'))}"
    sample = f" ({summary.search.users_scored:,} scored)" if is_sampled(summary) else ""
    n_groups = max((result.n_groups for result in summary.metrics.values()), default=0)
    return (
        f"{summary.unit.count(summary.n_users)}{sample}{lists}; {plural(n_groups, 'group')} by "
        f"{listed(summary.attributes)}"
    )


class GroupNumbers(NamedTuple):
    """A group and its numbers for one metric."""

    group: dict[str, str]
    support: int
    value: float | None
    difference: float | None
    low: float | None
    high: float | None
    outcome: str | None
    is_significant: bool | None
    p_adjusted: float | None
    own_low: float | None
    own_high: float | None


def single_attribute_groups(
    groups: pl.DataFrame, summary: AuditSummary, metric: str
) -> dict[str, list[GroupNumbers]]:
    """The groups of each attribute by itself, its values in their order."""
    found: dict[str, list[GroupNumbers]] = {name: [] for name in summary.attributes}
    of_metric = groups.filter((pl.col("metric") == metric) & (pl.col("depth") == 1))
    for one in read_groups(of_metric, summary):
        (name,) = one.group
        found[name].append(one)
    for name, rows in found.items():
        rows.sort(key=lambda one: value_order(one.group[name]))
    return found


def read_groups(frame: pl.DataFrame, summary: AuditSummary) -> list[GroupNumbers]:
    """The rows of a part of the table of groups."""
    numbers_of = ("support", "value", "difference", "simultaneous_low", "simultaneous_high")
    own = "difference_low", "difference_high"
    judged = frame.select(
        *numbers_of, "outcome", "is_beyond_chance", "p_adjusted", *own
    ).iter_rows()
    # by position, as outside names could be anything
    values = frame[:, 1 : 1 + len(summary.attributes)].iter_rows()
    return [
        GroupNumbers(row_group(dict(zip(summary.attributes, row, strict=True))), *numbers)
        for row, numbers in zip(values, judged, strict=True)
    ]


def group_numbers(
    summary: AuditSummary, groups: pl.DataFrame, metric: str, found: Sequence[FoundGroup]
) -> AnswerTable:
    """Numbers of each group of one attribute, and of findings by more than one."""
    result = summary.metrics[metric]
    single = single_attribute_groups(groups, summary, metric)
    deeper = _deeper_findings(summary, groups, metric, found)
    rows = [*deeper, *(one for block in single.values() for one in block)]
    digits = _decimals(rows, result)

    def row(one: GroupNumbers, label: str) -> Row:
        served = served_direction(one, result)
        interval = "-"
        if result.is_tested and (one.low is not None or one.high is not None):
            interval = (
                f"{_fixed(one.low, digits, sign=True)} to {_fixed(one.high, digits, sign=True)}"
            )
        value, difference = _fixed(one.value, digits), _fixed(one.difference, digits, sign=True)
        cells = (
            f"{one.support:,}",
            value,
            difference,
            interval,
            describe_outcome(one, served, summary.alpha),
        )
        return Row(label, cells, served)

    blocks = []
    # a table without any row would say of nobody how they are served
    none_shown = not deeper and not any(
        len(ones) <= MOST_VALUES or any(served_direction(one, result) for one in ones)
        for ones in single.values()
    )
    for name, ones in single.items():
        made = tuple(row(one, shown(one.group[name])) for one in ones)
        block = Block(plain(name), made, _in_short(name, ones, result, summary, digits))
        if none_shown and made:
            least = tuple(row(one, shown(one.group[name])) for one in served_least(ones, result))
            blocks.append(replace(block.shorten(), rows=least))
        elif made or block.in_short:
            blocks.append(block.shorten() if len(made) > MOST_VALUES else block)
    if deeper:
        made = tuple(row(one, group_label(one.group)) for one in deeper)
        blocks.append(
            Block("", made, "more intersections are significant, on the page", is_ranked=True)
        )
    elif (n_deeper := result.n_groups - sum(map(len, single.values()))) > 0 and result.is_tested:
        none = "" if result.n_significant else ", none significant"
        where = f"{plural(n_deeper, 'intersection')}{none}: on the page, and by_group() in Python"
        blocks.append(Block("", (), where, is_short=True))
    level = confidence(summary.alpha)
    difference = difference_name(summary).replace("adjusted difference", "adj. diff.")
    columns = (
        *(plain(metric), summary.unit.many, "value", difference),
        *(f"{level} interval (all)", "verdict"),
    )
    return AnswerTable(columns, (False, *(True,) * 4, False), tuple(blocks))


def served_least(ones: Sequence[GroupNumbers], result: MetricResult) -> list[GroupNumbers]:
    """The groups of an attribute to look at first where none is significant, worst first."""
    known = [one for one in ones if one.difference is not None]
    known.sort(key=lambda one: -harm(one.difference or 0.0, result.higher_is_better))
    return known[:LEAST_SERVED]


def _deeper_findings(
    summary: AuditSummary, groups: pl.DataFrame, metric: str, found: Sequence[FoundGroup]
) -> list[GroupNumbers]:
    """Findings in a metric by more than one attribute, worst first."""
    keys = [
        {name: str(value) for name, value in one.group.items()}
        for one in found
        if len(one.group) > 1 and metric in dict(one.findings)
    ]
    if not keys:
        return []
    axes = [f"a{at}" for at in range(len(summary.attributes))]
    mine = groups.filter((pl.col("metric") == metric) & (pl.col("depth") > 1))
    mine.columns = ["metric", *axes, *groups.columns[1 + len(axes) :]]
    rows = [[key.get(name) for name in summary.attributes] for key in keys]
    wanted = pl.DataFrame(rows, schema=dict.fromkeys(axes, pl.String), orient="row")
    chosen = mine.join(wanted, on=axes, how="semi", nulls_equal=True)
    return sorted(read_groups(chosen, summary), key=lambda one: keys.index(one.group))


def served_direction(one: GroupNumbers, result: MetricResult) -> Served | None:
    """How a group is served, where it differs significantly."""
    if not one.is_significant or one.difference is None or not _excludes_zero(one):
        return None
    if result.higher_is_better is None:
        return None if one.outcome == "inconclusive" else "differs"
    if harm(one.difference, result.higher_is_better) < 0:
        return "better"
    return None if one.outcome == "inconclusive" else "worse"


def _excludes_zero(one: GroupNumbers) -> bool:
    """Whether the simultaneous interval does."""
    return (one.low is not None and one.low > 0) or (one.high is not None and one.high < 0)


def describe_outcome(one: GroupNumbers, served: Served | None, alpha: float) -> str:
    """The verdict on a group, in a word or two."""
    if one.outcome is None:
        return "not tested"
    if served == "better":
        return "better"
    if served is None and one.outcome == "inconclusive" and _excludes_zero(one):
        # a reader of the interval alone would take it for significant, and of a small p as well
        p = one.p_adjusted
        return "undecided" if p is None or p <= alpha else f"n.s. (p = {p_value(p)})"
    # who is worse beyond tolerance is worse, which the difference says
    return one.outcome.removeprefix("worse ").removeprefix("differs ")


def _decimals(rows: Sequence[GroupNumbers], result: MetricResult) -> int:
    """Decimals of a table: two digits of the usual half width of its intervals, or more.

    As many as it takes that no end of an interval beyond 0 is written as 0.
    """
    ends = [(one.low, one.high) for one in rows]
    half = [(high - low) / 2 for low, high in ends if low is not None and high is not None]
    half = sorted(width for width in half if 0 < width < math.inf)
    size = half[len(half) // 2] if half else abs(result.mean) / 10
    digits = min(9, max(0, 1 - math.floor(math.log10(size)))) if size else 3
    near = [min(abs(one.low or 0.0), abs(one.high or 0.0)) for one in rows if _excludes_zero(one)]
    least = min(filter(None, near), default=1.0)
    return max(digits, min(digits + 2, math.ceil(-math.log10(2 * least))))


def _fixed(value: float | None, digits: int, *, sign: bool = False) -> str:
    """A number with so many decimals."""
    if value is None:
        return "no limit" if sign else "-"
    text = f"{value:{'+' if sign else ''},.{digits}f}"
    text = text.lstrip("+-") if not text.strip("+-0.,") else text
    return text.replace("-", MINUS)


def _in_short(
    name: str,
    ones: Sequence[GroupNumbers],
    result: MetricResult,
    summary: AuditSummary,
    digits: int,
) -> str:
    """The groups of an attribute in a line, of which those that are significant have rows."""
    about = summary.attributes[name]
    if not ones:
        many = summary.unit.many
        return f"{plural(about.n_values, 'value')}, none with enough {many}"
    is_ended = result.higher_is_better is not None
    word = "significant" if not is_ended else "worse"
    worse = sum(served_direction(one, result) in ("worse", "differs") for one in ones)
    said = plural(len(ones), "group")
    if result.is_tested:
        said += f", {worse if worse else 'none'} {word}"
    known = [one for one in ones if one.value is not None]
    if not known:
        return said
    last = min(known, key=lambda one: one.value or 0.0)
    if result.higher_is_better is False:
        last = max(known, key=lambda one: one.value or 0.0)
    end = "lowest" if result.higher_is_better is not False else "highest"
    value = f"{shown(last.group[name])} {_fixed(last.value, digits)}"
    return f"{said}; {end}: {value} ({summary.unit.count(last.support)})"


def _other_metric(name: str, found: Sequence[FoundGroup], summary: AuditSummary) -> str:
    """Another metric in a line: its verdict, and the group that it is about."""
    result = summary.metrics[name]
    said = f"{plain(name)}: {build_status(result, summary.unit)}"
    if result.is_constant and result.is_conclusive:
        return f"{said}, {number(result.mean)}"
    mine = [(group, dict(group.findings)[name]) for group in found if name in dict(group.findings)]
    if not mine:
        point = usual_certificate(result)
        if point is None or not point.harm:
            return f"{said}, mean {number(result.mean)}"
        by = f"not {worse_word(result)} by more than {number(point.harm)}"
        return f"{said}; groups of {point.support:,}+ {by}"
    # the worst in this metric, which need not come first among all
    mine.sort(key=lambda one: (not is_worse(one[1], result), one[1].because_of is not None))
    group, finding = mine[0]
    here, there = numbers(finding.value, mean_outside(finding))
    better = "" if is_worse(finding, result) else f", {end_words(name, summary.unit).better}"
    more = f", {plural(len(mine) - 1, 'more group')}" if len(mine) > 1 else ""
    return f"{said}{better}: {group_label(group.group)} {here} instead of {there}{more}"


def _deciding(verdicts: tuple[Verdict, ...], summary: AuditSummary) -> tuple[Verdict, ...]:
    """Those of metrics with a better end; all where none has one."""
    has_end = [result.higher_is_better is not None for result in summary.metrics.values()]
    ended = zip(verdicts, has_end, strict=True)
    return tuple(verdict for verdict, has in ended if has) or verdicts


def _tone(verdicts: tuple[Verdict, ...], summary: AuditSummary) -> Tone:
    tones = {verdict.tone for verdict in _deciding(verdicts, summary)}
    if "found" in tones:
        return "found"
    # one metric that is open is no all-clear
    return "clear" if tones == {"clear"} else "open"


def _of_found(groups: list[FoundGroup], summary: AuditSummary) -> tuple[str, str]:
    """Headline and detail where groups differ significantly."""
    first = groups[0]
    name, finding = first.first
    result, unit = summary.metrics[name], summary.unit
    n_alike = sum(group.served == first.served for group in groups)
    words = end_words(name, unit)
    verb = {"worse": words.worse, "better": words.better, "differs": "different"}
    here, there = finding.value, mean_outside(finding)
    told, alone = _told(groups, summary), verb[first.served]
    if told != first.group:
        alone = verb["differs" if first.served == "differs" else "better"]
        here, there = there, here
    label = group_label(told)
    who = f"{label} is {alone}"
    if n_alike > 1:
        at_least = "at least " if _is_cut(summary) else ""
        # those who lack one of several values come last, however far they are off
        lacking = any(other_side(group.group, summary) is not None for group in groups)
        most = "among them" if lacking else "most of all"
        who = f"{at_least}{n_alike:,} groups are {verb[first.served]}, {most} {label}"
    has_end = any(one.higher_is_better is not None for one in summary.metrics.values())
    if first.served == "better" or (first.served == "differs" and has_end):
        who = f"No group is significantly worse; {who}"
    elif n_alike > 1:
        who = who[0].upper() + who[1:]
    if first.served == "worse" and _is_ruled_out(groups, summary):
        who += ", but within tolerance"
    called, about = plain(name), "about " if is_sampled(summary) else ""
    values = numbers(here, there)
    size = f"{called} {values[0]} instead of {about}{values[1]}{_relative(here, there, result)}"
    details = []
    if summary.adjustment is not None:
        # values are as they are, and may well be the other way round
        lower = "lower" if finding.difference < 0 else "higher"
        size = (
            f"{called} {number(abs(finding.difference))} {lower} than that of others with the same "
            f"{covariate_names(summary)}"
        )
        details.append(f"Unadjusted: {values[0]} instead of {values[1]}")
    p = p_is(p_adjusted(finding.p_adjusted, summary))
    if is_sampled(summary):
        n_sample = unit.count(summary.metrics[name].n_compared)
        known = f"{users_known(finding)} of them scored; " if told == first.group else ""
        details.append(f"{known}all others estimated from {n_sample} drawn at random")
    if finding.because_of and finding.because_of != told:
        better = group_label(finding.because_of)
        details.append(f"not significant without {better}, {words.better} than they are")
    detail = "; ".join(details)
    return f"{who}: {size}, not chance ({p}, adjusted)", detail[:1].upper() + detail[1:]


def _relative(here: float, there: float, result: MetricResult) -> str:
    """The difference as a share, where values have a zero that is none of it."""
    if not result.is_ratio_scale or there <= 0 or here == there:
        return ""
    share = percent(abs(here / there - 1))
    return f" ({'+' if here > there else MINUS}{share})"


def _is_ruled_out(groups: list[FoundGroup], summary: AuditSummary) -> bool:
    """Whether every group that is worse is so within the tolerance."""
    # a group of which the findings name a larger one may be worse than that
    verdicts = [
        one.verdict
        for one in summary.metrics.values()
        if one.verdict is not None and one.higher_is_better is not None
    ]
    return not any(one.n_worse + one.n_worse_beyond_tolerance for one in verdicts) and all(
        _is_within(finding)
        for group in groups
        if group.served == "worse"
        for name, finding in group.findings
        if is_worse(finding, summary.metrics[name])
    )


def _is_within(finding: Finding) -> bool:
    """Whether a harm beyond the tolerance is ruled out."""
    return finding.outcome is not None and outcome_position(finding.outcome) == WITHIN


def _told(groups: list[FoundGroup], summary: AuditSummary) -> dict[str, Value]:
    """The group that the headline names: the first, or all others where these have a value.

    As they are measured, and of one group alone: what is adjusted or estimated is not said of all
    others, nor of fewer than a group must have.
    """
    first = groups[0]
    has_value = other_side(first.group, summary)
    is_first = (
        has_value is None
        or summary.adjustment is not None
        or is_sampled(summary)
        or first.served == "better"
        or first.first[1].because_of not in (None, has_value)
        or any(group.served == first.served for group in groups[1:])
        or _others_known(first, summary) < summary.coverage.min_users
    )
    return first.group if is_first or has_value is None else has_value


def _others_known(first: FoundGroup, summary: AuditSummary) -> int:
    """How many of all others have a value."""
    name, finding = first.first
    return summary.n_users - summary.metrics[name].n_undefined - finding.support


def _of_none(summary: AuditSummary, verdicts: tuple[Verdict, ...]) -> tuple[str, str]:
    """Headline and detail where no group differs significantly."""
    if all(verdict.status == "not tested" for verdict in verdicts):
        return "Nothing was tested for significance", _why_untested(summary)
    if all(verdict.status in SAME for verdict in verdicts):
        has = "Everyone has" if summary.unit.is_users else f"All {summary.unit.many} have"
        return f"{has} the same value, so groups cannot differ", ""
    n_groups = max(result.n_groups for result in summary.metrics.values())
    if all(verdict.tone == "clear" for verdict in _deciding(verdicts, summary)):
        rests = next((f", {one.if_like_others}" for one in verdicts if one.if_like_others), "")
        return (
            f"Every group of a single attribute is within tolerance{rests}; no significant "
            f"difference among {plural(n_groups, 'group')}",
            "",
        )
    not_enough = [
        verdict
        for verdict, result in zip(verdicts, summary.metrics.values(), strict=True)
        if verdict.status == "inconclusive" and not result.is_conclusive
    ]
    if not_enough:
        which = f" in {not_enough[0].metric}" if len(verdicts) > 1 else ""
        return f"Inconclusive{which}: {not_enough[0].headline}", not_enough[0].remedy
    if undecided := _undecided(summary, verdicts):
        return undecided
    headline = (
        f"No significant difference among {plural(n_groups, 'group')}; this does not show they are "
        "equal."
    )
    return headline, _power(summary)


def _why_untested(summary: AuditSummary) -> str:
    """Where permutations are too few for any group to be found."""
    least = least_permutations(summary.alpha)
    if not summary.unit.is_users or summary.permutations >= least:
        return ""
    more = spell_in(summary.command, "permutations", least)
    return (
        f"{plural(summary.permutations, 'permutation')} cannot give a p-value of "
        f"{summary.alpha:g}: {more} or more can (1/alpha - 1)"
    )


def _undecided(summary: AuditSummary, verdicts: tuple[Verdict, ...]) -> tuple[str, str] | None:
    """Headline and detail where a test and its interval disagree, or another seed might."""
    for (name, result), verdict in zip(summary.metrics.items(), verdicts, strict=True):
        if verdict.undecided:
            return f"Inconclusive in {verdict.metric}", verdict.undecided.removesuffix(".")
        if result.undecided and result.is_conclusive:
            return undecided_headline(plain(name), result, summary), ""
    return None


def _power(summary: AuditSummary) -> str:
    """The power of the audit in the metric that comes first, in groups of a usual size."""
    for name in by_importance(summary):
        result = summary.metrics[name]
        if not result.detectable:
            continue
        certificate = () if result.verdict is None else result.verdict.certificate
        size = max(USUAL_SIZE, certificate[0].support if certificate else 0)
        at = min(result.detectable, key=lambda one: abs(one.support - size))
        return (
            f"80% power to detect a difference of {number(at.difference)} in {plain(name)} in a "
            f"group of {summary.unit.count(at.support)}"
        )
    if summary.adjustment or not summary.unit.is_users:
        return ""
    return "The groups are too small to detect any possible difference with 80% power"


def _is_cut(summary: AuditSummary) -> bool:
    return any(is_cut(result) for result in summary.metrics.values())


def _next_steps(
    found: list[FoundGroup],
    summary: AuditSummary,
    folder: str,
    groups: pl.DataFrame | None,
    metric: str,
) -> tuple[str, ...]:
    """What a reader can do, the nearest first."""
    steps = [*filter(None, (exact_instead(summary),))]
    unit = summary.unit
    if summary.confounders and summary.adjustment is None:
        covariate = summary.confounders[0].covariate
        adjust = spell_in(summary.command, "adjust_for", [covariate])
        steps.append(f"compare {unit.many} with equal {plain(covariate)}: {adjust}")
    if any(group.served == "worse" for group in found):
        has_lists = "predictions" in summary.inputs
        if of_two_lists(found[0].first[0]):
            steps.append("look at what changes in their lists")
        elif not unit.is_users:
            steps.append(f"look at how these {unit.many} are ranked, and for whom")
        elif has_lists and summary.search.users_scored == summary.n_users:
            steps.append(f"re-rank their lists: {_mitigation(found[0].first[0], summary, folder)}")
        else:
            steps.append("look at what these users got")
    elif is_sampled(summary):
        if not summary.search.has_table:
            budget = spell_in(summary.command, "budget_users")
            steps.append(f"score more {unit.many}: raise {budget}")
    elif not found and any(not result.is_conclusive for result in summary.metrics.values()):
        # more users would be missing as these are
        steps.append(f"find out {unit.which} {'is' if unit.is_users else 'are'} missing, and why")
    elif summary.outcome == "within tolerance":
        steps.append(f"write a policy for the next release: fairrec init {folder}")
    can_differ = any(one.is_tested and not one.is_constant for one in summary.metrics.values())
    tolerance = _suggest_tolerance(summary, groups, metric)
    if summary.tolerance is None and can_differ and tolerance:
        steps.append(tolerance)
    elif summary.outcome == "inconclusive" and unit.is_users and can_differ:
        what = (
            "what these users can show" if summary.tolerance is None else "how many users it takes"
        )
        plan = f"{what}: fairrec plan {folder}"
        steps.append(f"{plan} ({_GUIDES}/inconclusive.md)")
    return tuple(steps)


def _suggest_tolerance(summary: AuditSummary, groups: pl.DataFrame | None, metric: str) -> str:
    """How to choose one, and how large a harm these users could rule out for single attributes.

    Empty where they could rule out none that is smaller than the mean.
    """
    margins = {} if groups is None else attribute_margins(summary, groups, metric)
    result = summary.metrics[metric]
    is_share = result.is_ratio_scale and result.mean > 0
    sizes = {name: size / result.mean if is_share else size for name, size in margins.items()}
    if is_share:
        sizes = {name: size for name, size in sizes.items() if size <= 1}
        if margins and not sizes:
            # no tolerance that says anything can be ruled out
            return ""
    least, text = "5%", ""
    if sizes:
        least = _round_up(min(sizes.values()), is_share=is_share)
        of = " of the mean" if is_share else ""
        said = [
            f"{percent(size) if is_share else number(size)}{of if not at else ''} for {plain(name)}"
            for at, (name, size) in enumerate(sorted(sizes.items(), key=lambda one: one[1])[:3])
        ]
        text = (
            f", such as one these {summary.unit.many} can rule out with 80% power: {with_and(said)}"
        )
    if not is_share and sizes:
        least = f"{plain(metric)}={least}"
    option = spell_in(summary.command, "tolerance", least)
    guide = f"{_GUIDES}/choose-a-tolerance.md"
    return f"no group can be cleared without a tolerance; choose one ({guide}){text}: {option}"


def attribute_margins(summary: AuditSummary, groups: pl.DataFrame, metric: str) -> dict[str, float]:
    """For each attribute the harm ruled out in all its groups with 80% power if there is none."""
    margins = {}
    higher_is_better = summary.metrics[metric].higher_is_better
    sides = len(worse_ends(higher_is_better))
    for name, ones in single_attribute_groups(groups, summary, metric).items():
        # by chance half of the groups are off to the wrong side, so width alone is not enough
        reach = ndtri(1 - (1 - POWER) / (sides * max(1, len(ones)))) / ndtri(1 - summary.alpha / 2)
        widths = [
            max(abs(end - one.difference) for end in _harmful_ends(one, higher_is_better))
            + reach * (one.own_high - one.own_low) / 2
            for one in ones
            if one.difference is not None and one.low is not None and one.high is not None
            if one.own_low is not None and one.own_high is not None
        ]
        if widths and len(widths) == len(ones):
            margins[name] = max(widths)
    return margins


def _harmful_ends(one: GroupNumbers, higher_is_better: bool | None) -> tuple[float, ...]:
    low, high = one.low or 0.0, one.high or 0.0
    if higher_is_better is None:
        return low, high
    return (low,) if higher_is_better else (high,)


def _round_up(size: float, *, is_share: bool) -> str:
    """To the next step of 5%, or to two digits."""
    if is_share:
        return f"{5 * math.ceil(20 * size - 1e-9)}%"
    step = 10.0 ** (math.floor(math.log10(size)) - 1) if size > 0 else 1.0
    return f"{math.ceil(size / step) * step:.2g}"


def _mitigation(name: str, summary: AuditSummary, folder: str) -> str:
    """The command that re-ranks lists for a metric, with the table that it lacks."""
    command = f"fairrec mitigate {folder} --metric {shlex.quote(plain(name))}"
    metric = find_metric(name)
    # order is learned from what users chose before; a trained run has its own table of it
    lacks = metric is not None and "labels" in metric.needs
    return (
        f"{command} --history FILE"
        if lacks and not {"history", "run"} & {*summary.inputs}
        else command
    )
