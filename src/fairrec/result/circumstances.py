"""Circumstances of users, named."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fairrec.inputs.audit_inputs import Described
from fairrec.result.circumstances_schema import (
    DifferingCircumstance,
    Given,
    GivenCircumstance,
    NoLongerFound,
)
from fairrec.statistics.analysis import Analysis
from fairrec.statistics.circumstances import Differing
from fairrec.statistics.explained import Explained


def given_part(
    described: Described, analysis: Analysis, no_longer: Sequence[Explained]
) -> Given | None:
    """What was given and what it changed; None where nothing was."""
    if not described.circumstances:
        return None
    strata = analysis.moments.strata
    n_per_stratum = strata.sums(analysis.measured.n_scored)
    is_not = analysis.is_tested & ~analysis.is_comparable
    metrics = [metric.name for metric in analysis.measured.metrics]
    return Given(
        named=described.given,
        circumstances={
            circumstance.name: GivenCircumstance(
                n_values=len(circumstance.values),
                n_missing=circumstance.n_missing,
                binning=circumstance.binning,
            )
            for circumstance in described.circumstances
        },
        n_strata=strata.n_strata,
        n_users_alone=int((n_per_stratum == 1).sum()),
        n_not_comparable={name: int(row.sum()) for name, row in zip(metrics, is_not, strict=True)},
        no_longer=tuple(_no_longer(one, metrics[one.metric], analysis) for one in no_longer),
    )


def _no_longer(one: Explained, metric: str, analysis: Analysis) -> NoLongerFound:
    at = one.metric, one.group
    difference = float(analysis.estimates.difference[at])
    return NoLongerFound(
        metric=metric,
        group=analysis.grouping.group(one.group).as_dict(),
        n_users=int(analysis.moments.n[at]),
        raw_difference=float(analysis.estimates.raw_difference[at]),
        difference=difference if math.isfinite(difference) else None,
        kept_share=float(analysis.kept_share[at]),
    )


def differing_part(
    found: Sequence[Differing], names: Sequence[str], analysis: Analysis
) -> tuple[DifferingCircumstance, ...]:
    """The circumstances that make a part of a finding.

    Parameters
    ----------
    names : of the circumstances
    """
    return tuple(
        DifferingCircumstance(
            metric=analysis.measured.metrics[one.metric].name,
            group=analysis.grouping.group(one.group).as_dict(),
            circumstance=names[one.circumstance],
            mean=one.here,
            mean_of_others=one.elsewhere,
            difference=float(analysis.moments.difference[one.metric, one.group]),
            explains=one.explains,
            at_random=one.at_random,
        )
        for one in found
    )
