"""The values between the steps of an audit: what is asked for, read, and measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairrec.core.audit_options import AuditOptions
from fairrec.groups.grouping import Grouping
from fairrec.inputs.audit_inputs import AuditInputs, InputMetadata
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.users import Attribute
from fairrec.metrics.measured import Measured
from fairrec.metrics.tolerance import refuse_unfit_to
from fairrec.statistics.strata import Strata

if TYPE_CHECKING:
    import polars as pl

    from fairrec.counts.rows import Counted
    from fairrec.scoring.model import Model, ScoringFunction
    from fairrec.search.loop import Searched
    from fairrec.search.options import Search
    from fairrec.statistics.bootstrap import UserBlocks
    from fairrec.statistics.inequality import CatalogueExposure


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be audited, and how.

    Parameters
    ----------
    search : None where all scores are at hand, or a run gives them
    closing : ends what is needed until there is a result
    """

    predictions: Any
    tables: TableOptions
    options: AuditOptions
    scorer: ScoringFunction | Model | None
    search: Search | None
    closing: ExitStack


@dataclass(frozen=True, slots=True)
class Measurement:
    """Users, items or counts of users with their values, ready to be analysed.

    Parameters
    ----------
    source : the tables, or the counts, in which no list and no value of a user is at hand
    described : what the result records of it
    call : the arguments that say in Python what was measured
    options : with the tolerance by the names of these metrics
    strata : users with equal covariates; None where none are given
    searched : how users came to be scored; None where all scores were at hand
    blocks : users who were shown items, where items are compared
    catalogue : how exposure is spread over items, where items are compared
    executor : whose workers draw permutations; None for the threads of this process
    per_user_parts : the values of users that are too many for memory
    """

    source: AuditInputs | Counted
    described: InputMetadata
    measured: Measured
    grouping: Grouping
    call: Mapping[str, Any]
    options: AuditOptions
    strata: Strata | None = None
    searched: Searched | None = None
    blocks: UserBlocks | None = None
    catalogue: CatalogueExposure | None = None
    executor: Executor | None = None
    per_user_parts: pl.LazyFrame | None = None

    def __post_init__(self) -> None:
        refuse_unfit_to(self.options.tolerance, self.measured)


def build_strata(covariates: Sequence[Attribute]) -> Strata | None:
    """Users with equal covariates; None where none are given."""
    if not covariates:
        return None
    return Strata.from_codes(
        [one.codes for one in covariates], [len(one.values) for one in covariates]
    )
