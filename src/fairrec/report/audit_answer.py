"""The answer of an audit: which group is worse off, by how much, and what to do next."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence

import polars as pl
from scipy.special import ndtri

from fairrec.core.errors import listed, plain
from fairrec.core.options import spell_in
from fairrec.metrics.direction import harm, worse_ends
from fairrec.metrics.value_columns import find_metric
from fairrec.report.answer import Answer, Note, Tone
from fairrec.report.covariates import covariate_names
from fairrec.report.findings import (
    FoundGroup,
    because_of,
    describe_undecided,
    found_groups,
    mean_outside,
)
from fairrec.report.group_rows import (
    GroupNumbers,
    group_numbers,
    read_groups,
    served_direction,
    single_attribute_groups,
)
from fairrec.report.metric_words import (
    describe_power,
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
from fairrec.report.verdict import (
    SAME,
    UNDECIDED,
    Verdict,
    build_status,
    describe_tolerance,
)
from fairrec.report.words import (
    MINUS,
    confidence,
    group_label,
    number,
    numbers,
    p_is,
    percent,
    plural,
    rounded_up,
    signed_with_interval,
)
from fairrec.result.metric_schema import MetricResult
from fairrec.result.schema import AuditSummary
from fairrec.statistics.power import POWER
from fairrec.statistics.simultaneous import least_permutations

_GUIDES = "docs/how-to"
_RULED_OUT = describe_tolerance, summarize_ruled_out


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
    first = headline_metric(summary, found)
    headline, detail = _of_findings(found, summary) if found else _of_none(summary, verdicts)
    largest = ""
    if groups is not None and not found and _tone(verdicts, summary) == "open":
        largest = _largest_harm(groups, first, summary)
    # metrics with a harm come first
    worse = {name for group in found if group.served == "worse" for name, _ in group.findings}
    others = [name for name in by_importance(summary) if name != first]
    others.sort(key=lambda name: name not in worse)
    steps = _next_steps(found, summary, folder, groups, first)
    if not is_saved and any(f" {folder}" in step for step in steps):
        out = spell_in(summary.command, "out", folder)
        steps = [f"{steps[0]}, after saving this audit ({out})", *steps[1:]]
    table = None
    if groups is not None and not summary.metrics[first].is_constant:
        table = group_numbers(summary, groups, first, found)
    return Answer(
        tone=_tone(verdicts, summary),
        headline=headline,
        about=tuple(filter(None, (detail, largest, _audited(summary)))),
        notes=tuple(notes),
        table=table,
        sentences=tuple(filter(None, [one(summary.metrics[first], summary) for one in _RULED_OUT])),
        others=tuple(_other_metric(name, found, summary) for name in others),
        next_steps=tuple(steps),
    )


def headline_metric(summary: AuditSummary, found: Sequence[FoundGroup]) -> str:
    """The metric of the table: that of the worst finding, else the first one of accuracy."""
    if found and (found[0].served == "worse" or not _has_end(summary)):
        return found[0].first[0]
    return by_importance(summary)[0]


def by_importance(summary: AuditSummary) -> list[str]:
    """Metrics of accuracy first, then others with a better end, then the rest."""

    def place(name: str) -> tuple[bool, bool]:
        metric = find_metric(name)
        is_accuracy = metric is None or "labels" in metric.needs
        return summary.metrics[name].higher_is_better is None, not is_accuracy

    return sorted(summary.metrics, key=place)


def _has_end(summary: AuditSummary) -> bool:
    return any(result.higher_is_better is not None for result in summary.metrics.values())


def _deciding(verdicts: tuple[Verdict, ...], summary: AuditSummary) -> tuple[Verdict, ...]:
    """Those of metrics with a better end; all where none has one."""
    ended = zip(verdicts, summary.metrics.values(), strict=True)
    return tuple(one for one, about in ended if about.higher_is_better is not None) or verdicts


def _tone(verdicts: tuple[Verdict, ...], summary: AuditSummary) -> Tone:
    tones = {verdict.tone for verdict in _deciding(verdicts, summary)}
    if "found" in tones:
        return "found"
    # one inconclusive metric leaves the audit open
    return "clear" if tones == {"clear"} else "open"


def _audited(summary: AuditSummary) -> str:
    """What was audited, with which lists, in how many groups."""
    lists = ""
    if summary.measured_by not in ("values", None):
        lists = f", {plural(summary.n_candidates, summary.measured_by.removesuffix('s'))}"
    sample = f" ({summary.search.users_scored:,} scored)" if is_sampled(summary) else ""
    n_groups = max((result.n_groups for result in summary.metrics.values()), default=0)
    return (
        f"{summary.unit.count(summary.n_users)}{sample}{lists}; {plural(n_groups, 'group')} by "
        f"{listed(summary.attributes)}"
    )


def _of_findings(groups: list[FoundGroup], summary: AuditSummary) -> tuple[str, str]:
    """Headline and detail where groups differ significantly."""
    first = groups[0]
    name, finding = first.first
    unit, words = summary.unit, end_words(name, summary.unit)
    verb = {"worse": words.worse, "better": words.better, "differs": "different"}[first.served]
    label, n_alike = group_label(first.group), sum(one.served == first.served for one in groups)
    subject = f"{label} is {verb}"
    if n_alike > 1:
        is_cut = any(result.n_not_listed for result in summary.metrics.values())
        at_least = "At least " if is_cut else ""
        subject = f"{at_least}{n_alike:,} groups are {verb}, most of all {label}"
    if first.served == "better" or (first.served == "differs" and _has_end(summary)):
        subject = f"No group is significantly worse; {subject}"
    verdicts = [one.verdict for one in summary.metrics.values() if one.higher_is_better is not None]
    n_worse = sum(one.n_worse + one.n_worse_beyond_tolerance for one in verdicts if one)
    if first.served == "worse" and not n_worse:
        subject += ", but within tolerance"
    others = mean_outside(finding)
    here, there = numbers(finding.value, others)
    about = "about " if is_sampled(summary) else ""
    size = f"{here} instead of {about}{there}"
    details = [because_of(finding, words).rstrip(".")]
    if summary.adjustment is None:
        effect = f"{size}{_relative(finding.value, others, summary.metrics[name])}"
    else:
        # values are unadjusted, and may differ in the other direction
        details.append(f"Unadjusted: {size}")
        lower = "lower" if finding.difference < 0 else "higher"
        same = f"others with the same {covariate_names(summary)}"
        effect = f"{number(abs(finding.difference))} {lower} than that of {same}"
    if is_sampled(summary):
        n_sample = unit.count(summary.metrics[name].n_compared)
        details.append(f"all others estimated from {n_sample} drawn at random")
    if not unit.is_users:
        details.append(_beside_random_sets(groups, summary))
    p = p_is(p_adjusted(finding.p_adjusted, summary))
    # of items the users are the sample: another choice of items may differ as much
    sure = "significant" if unit.is_users else "beyond sampling error"
    headline = f"{subject}: {plain(name)} {effect}, {sure} (adjusted {p})"
    return headline, "; ".join(filter(None, details))


def _beside_random_sets(groups: list[FoundGroup], summary: AuditSummary) -> str:
    """How many groups of items are further from the others than random sets of as many items."""
    alike = [one.first[1].random_sets for one in groups if one.served == groups[0].served]
    shares = [share for share in alike if share is not None]
    if not shares:
        return ""
    if len(shares) == 1:
        return f"{percent(shares[0])} of random {summary.unit.one} sets of its size differ as much"
    beyond = sum(share <= summary.alpha for share in shares)
    return (
        f"{beyond:,} of the {len(shares):,} groups differ more than {confidence(summary.alpha)} of "
        f"random {summary.unit.one} sets of the same size"
    )


def _relative(here: float, there: float, result: MetricResult) -> str:
    """The difference as a share, where values have a true zero."""
    if not result.is_ratio_scale or there <= 0 or here == there:
        return ""
    return f" ({'+' if here > there else MINUS}{percent(abs(here / there - 1))})"


def _of_none(summary: AuditSummary, verdicts: tuple[Verdict, ...]) -> tuple[str, str]:
    """Headline and detail where no group differs significantly."""
    if all(verdict.status == "not tested" for verdict in verdicts):
        return "Nothing was tested for significance", _why_untested(summary)
    if all(verdict.status in SAME for verdict in verdicts):
        return f"The value is the same for {summary.unit.everyone}, so groups cannot differ", ""
    if _is_inseparable(summary):
        names = covariate_names(summary)
        return f"Inconclusive: no group can be compared with others of the same {names}", ""
    n_groups = plural(max(result.n_groups for result in summary.metrics.values()), "group")
    if all(verdict.tone == "clear" for verdict in _deciding(verdicts, summary)):
        condition = next((f", {one.qualifier}" for one in verdicts if one.qualifier), "")
        return (
            f"Every group of a single attribute is within tolerance{condition}; no significant "
            f"difference among {n_groups}",
            "",
        )
    for verdict, result in zip(verdicts, summary.metrics.values(), strict=True):
        undecided = describe_undecided(result, summary)
        if verdict.status == "inconclusive" and not result.is_conclusive:
            why, detail = verdict.headline, verdict.details[0]
        elif verdict.qualifier == UNDECIDED or undecided:
            why, detail = undecided or UNDECIDED, "" if undecided else verdict.details[0]
        else:
            continue
        return f"Inconclusive in {verdict.metric}: {why.rstrip('.')}", detail
    none = f"No significant difference among {n_groups}"
    if summary.tolerance is not None:
        none = f"Inconclusive: {none[0].lower()}{none[1:]}, and not all are within tolerance"
    return (
        f"{none}; this does not show they are equal.",
        describe_power(summary.metrics[by_importance(summary)[0]], summary),
    )


def _is_inseparable(summary: AuditSummary) -> bool:
    """Whether covariates leave no group with enough others to be compared with."""
    tested = [result for result in summary.metrics.values() if result.is_tested]
    return summary.adjustment is not None and all(
        one.verdict is not None and one.n_groups <= one.verdict.n_not_compared for one in tested
    )


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


def _largest_harm(groups: pl.DataFrame, metric: str, summary: AuditSummary) -> str:
    """The group to look at first where none is significant: the largest harm after shrinkage."""
    result = summary.metrics[metric]
    harms = pl.col("shrunken_difference") * {True: -1, False: 1, None: 0}[result.higher_is_better]
    top = groups.filter(pl.col("metric") == metric, harms > 0).top_k(1, by=harms)
    for one in read_groups(top, summary):
        size, interval = signed_with_interval(one.difference, one.low, one.high)
        return (
            f"Look first at {group_label(one.group)}, whose difference is the largest after "
            f"shrinkage: {size} ({interval}), not significant"
        )
    return ""


def _other_metric(name: str, found: Sequence[FoundGroup], summary: AuditSummary) -> str:
    """Another metric in a line: its verdict, and the worst group in it."""
    result = summary.metrics[name]
    line = f"{plain(name)}: {build_status(result, summary.unit)}"
    mine = [(group, dict(group.findings)[name]) for group in found if name in dict(group.findings)]
    if not mine:
        point = None if result.is_constant else usual_certificate(result)
        if point is None:
            return f"{line}, mean {number(result.mean)}"
        limit = f"not {worse_word(result)} by more than {rounded_up(point.harm)}"
        return f"{line}; groups of {point.support:,}+ {limit}"
    mine.sort(key=lambda one: (not is_worse(one[1], result), one[1].because_of is not None))
    group, finding = mine[0]
    here, there = numbers(finding.value, mean_outside(finding))
    better = "" if is_worse(finding, result) else f", {end_words(name, summary.unit).better}"
    more = f", {plural(len(mine) - 1, 'more group')}" if len(mine) > 1 else ""
    return f"{line}{better}: {group_label(group.group)} {here} instead of {there}{more}"


def _next_steps(
    found: list[FoundGroup],
    summary: AuditSummary,
    folder: str,
    groups: pl.DataFrame | None,
    metric: str,
) -> list[str]:
    """What a reader can do, the nearest first."""
    steps = [*filter(None, (exact_instead(summary),))]
    unit, results = summary.unit, summary.metrics.values()
    separable = [one for one in summary.confounders if one.explains is not None]
    if separable and summary.adjustment is None:
        covariate = separable[0].covariate
        adjust = spell_in(summary.command, "adjust_for", [covariate])
        steps.append(f"compare {unit.many} with equal {plain(covariate)}: {adjust}")
    if any(group.served == "worse" for group in found):
        name, has_lists = found[0].first[0], "predictions" in summary.inputs and unit.is_users
        if has_lists and not of_two_lists(name) and not is_sampled(summary):
            steps.append(f"re-rank their lists: {_mitigation(name, summary, folder)}")
        else:
            steps.append(f"inspect the recommendations of these {unit.many}")
    elif is_sampled(summary) and not summary.search.has_table:
        budget = spell_in(summary.command, "budget_users")
        steps.append(f"score more {unit.many}: raise {budget}")
    elif not found and any(not result.is_conclusive for result in results):
        steps.append(f"find out which {unit.many} are missing, and why")
    elif summary.outcome == "within tolerance":
        steps.append(f"write a policy for the next release: fairrec init {folder}")
    can_differ = any(one.is_tested and not one.is_constant for one in results)
    tolerance = _suggest_tolerance(summary, groups, metric)
    has_groups = any(result.n_groups for result in results) and not _is_inseparable(summary)
    if summary.tolerance is None and can_differ and has_groups and tolerance:
        steps.append(tolerance)
    elif summary.outcome == "inconclusive" and unit.is_users and can_differ and has_groups:
        plan = f"fairrec plan {folder} ({_GUIDES}/inconclusive.md)"
        steps.append(f"how many users it takes: {plan}")
    return steps


def _suggest_tolerance(summary: AuditSummary, groups: pl.DataFrame | None, metric: str) -> str:
    """How to choose one, and the smallest harm that could be ruled out for an attribute.

    Empty where none could be.
    """
    result, margins = summary.metrics[metric], {}
    if groups is not None:
        margins = attribute_margins(summary, groups, metric)
        if not margins:
            return ""
    is_share = result.is_ratio_scale and result.mean > 0
    least, example = "5%", ""
    if margins:
        name, size = min(margins.items(), key=lambda one: one[1])
        if is_share:
            least = f"{5 * math.ceil(20 * size / result.mean - 1e-9)}%"
            text = f"{least} of the mean"
        else:
            text = rounded_up(size)
            least = f"{plain(metric)}={text}"
        example = f"without harm in {plain(name)}, these {summary.unit.many} would rule out {text} "
        example += "with 80% power; "
    option = spell_in(summary.command, "tolerance", least)
    guide = f"{_GUIDES}/choose-a-tolerance.md"
    return f"set a tolerance, such as {option} ({example}how to choose: {guide})"


def attribute_margins(summary: AuditSummary, groups: pl.DataFrame, metric: str) -> dict[str, float]:
    """For each attribute the harm ruled out in all its groups with 80% power if there is none.

    Harms that are no smaller than the mean are left out.
    """
    margins, result = {}, summary.metrics[metric]
    sides = len(worse_ends(result.higher_is_better))
    limit = result.mean if result.is_ratio_scale and result.mean > 0 else math.inf
    for name, ones in single_attribute_groups(groups, summary, metric).items():
        # by chance half of the groups are off to the wrong side, so width alone is not enough
        reach = ndtri(1 - (1 - POWER) / (sides * max(1, len(ones)))) / ndtri(1 - summary.alpha / 2)
        widths = [_width(one, result.higher_is_better, reach) for one in ones]
        if any(served_direction(one, result) in ("worse", "differs") for one in ones):
            continue
        if 0 < max(widths, default=0.0) < limit:
            margins[name] = max(widths)
    return margins


def _width(one: GroupNumbers, higher_is_better: bool | None, reach: float) -> float:
    """How far the harm of a group may be off; infinite where its interval has no limit."""
    if one.difference is None or one.low is None or one.high is None:
        return math.inf
    if one.own_low is None or one.own_high is None:
        return math.inf
    ends = [harm(end - one.difference, higher_is_better) for end in (one.low, one.high)]
    return float(max(ends) + reach * (one.own_high - one.own_low) / 2)


def _mitigation(name: str, summary: AuditSummary, folder: str) -> str:
    """The command that re-ranks lists for a metric, with the table that it needs."""
    command = f"fairrec mitigate {folder} --metric {shlex.quote(plain(name))}"
    metric = find_metric(name)
    # order is learned from what users chose before; a trained run has its own table of it
    needs = metric is not None and "labels" in metric.needs
    has_history = {"history", "run"} & {*summary.inputs}
    return f"{command} --history FILE" if needs and not has_history else command
