"""What the reader of a result should know; the answer stands nevertheless."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from fairrec.core.options import Blank, spelled
from fairrec.inputs.audit_inputs import Described
from fairrec.inputs.mismatched_ids import describe_alike_values
from fairrec.inputs.notes import CHECK_FIRST
from fairrec.result.metric_schema import MetricResult
from fairrec.statistics.adjust import least_permutations
from fairrec.statistics.analysis import Analysis

_MUCH_BELOW = 0.1
"""An auc so far below that of a random order is worse than a weak model has."""


def reader_notes(
    described: Described,
    analysis: Analysis,
    results: Mapping[str, MetricResult],
    pooled: Collection[str],
) -> tuple[str, ...]:
    """All that is worth a note about the data and the tests.

    Parameters
    ----------
    pooled : names of the metrics that are no mean over users
    """
    said: list[str] = []
    many = described.unit.many
    attributes = described.attributes
    said += _about_ties(described)
    said += described.warnings
    said += _about_reversed_scores(described, results)
    # one table may be both values and users
    said += dict.fromkeys(note for table in described.tables.values() for note in table.notes)
    for attribute in (*attributes, *described.circumstances):
        said += attribute.warnings
        alike = "" if attribute.binning else describe_alike_values(attribute.name, attribute.values)
        said += [alike] if alike else []
    said += [
        f"{name} is undefined for groups with {results[name].n_undefined:,} {many} in all, whose "
        "candidates are all relevant or all not"
        for name in pooled
        if results[name].n_undefined
    ]
    if not len(analysis.grouping.full):
        said.append(
            f"no full combination of the {len(attributes)} attributes has "
            f"{analysis.grouping.min_users:,} {many}, so there is no gap between full "
            "combinations; findings are of partial ones"
        )
    options = analysis.options
    if not options.permutations:
        said.append(
            "no permutations: the null distribution, p-values and findings were not computed"
        )
    elif analysis.test is not None and 1 / (options.permutations + 1) > options.alpha:
        said.append(
            f"{options.permutations:,} permutations cannot give a p-value of {options.alpha:g}; "
            f"use at least {least_permutations(options.alpha):,}"
        )
    said += [
        f"{name}: the {len(result.findings):,} strongest findings are listed; "
        f"{result.n_not_listed:,} more groups are significant and not folded into them"
        for name, result in results.items()
        if result.n_not_listed
    ]
    return tuple(said)


def _about_reversed_scores(described: Described, results: Mapping[str, MetricResult]) -> list[str]:
    """Scores that put what is relevant last."""
    auc = results.get("auc")
    if auc is None or auc.sd is None or described.measured_by != "candidates":
        return []
    n = max(1, described.n_users - auc.n_undefined)
    if auc.mean >= 0.5 - max(_MUCH_BELOW, 3 * auc.sd / math.sqrt(n)):
        return []
    return [
        f"{CHECK_FIRST}the mean auc is {auc.mean:.2f}, and 0.5 in random order, so the candidates "
        "that are not relevant have the higher scores. Higher scores must mean better: if these "
        "are distances, or ranks with 1 for the first, give them with the opposite sign"
    ]


def _about_ties(described: Described) -> list[str]:
    """Lists of which chance decides what is in their first places."""
    ties = described.ties
    if ties is None or not ties.n_tied:
        return []
    if described.measured_by == "recommendations":
        return [
            f"the lists of {ties.n_tied:,} of {ties.n_lists:,} users have equal scores in their "
            f"first {ties.k} places, and metrics are means over their orders. If users saw one "
            "order, give the place of each item, 1 for the first: "
            f"{spelled('columns', {'rank': Blank('NAME')})}"
        ]
    if not ties.n_at_cutoff or ties.is_without_order:
        return []
    constant = f" ({ties.n_constant:,} of them one score throughout)" if ties.n_constant else ""
    return [
        f"the lists of {ties.n_at_cutoff:,} of {ties.n_lists:,} users have equal scores at place "
        f"{ties.k}{constant}, so that chance decides what comes first; metrics are means over all "
        "orders of equal scores"
    ]
