"""Ten audits and remedies of small synthetic data, one of each kind."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl

import fairrec
from fairrec.inputs.parts.partition import open_parts
from tests.comparison.two_sides import two_sided
from tests.counterfactuals.flipped_world import flipped
from tests.counts.small_counts import counts_of, halves, tables, values
from tests.end_to_end.made_results import mitigated
from tests.scoring.http.served_world import CANDIDATES, USERS, faulty_server

Run = Callable[[Path], Any]
PERMUTATIONS = 199


def exact(folder: Path) -> fairrec.AuditResult:
    """Scored candidates: three metrics, three attributes, a tolerance, users without a list."""
    return fairrec.audit(**tables(), tolerance="10%", permutations=PERMUTATIONS)


def few() -> dict[str, Any]:
    """The same by two attributes and two metrics."""
    return {**tables(), "by": "gender,country", "metrics": "auc,mrr@8"}


def held_out(folder: Path) -> fairrec.AuditResult:
    """Recommendations and a table of held-out interactions."""
    given = two_sided()
    return fairrec.audit(
        given["predictions"],
        test=given["test"],
        users=given["users"].with_columns(region=pl.int_range(pl.len()) % 3),
        by="gender,region",
        metrics="ndcg@5,recall@2",
        permutations=PERMUTATIONS,
    )


def of_values(folder: Path) -> fairrec.AuditResult:
    """A number for each user, with a long upper tail."""
    return fairrec.audit(**values(), permutations=PERMUTATIONS)


def adjusted(folder: Path) -> fairrec.AuditResult:
    """Within strata of a column and of the length of lists."""
    world = tables(n_positive=2)
    return fairrec.audit(
        **{**world, "by": "gender,country"}, given="age:20", permutations=PERMUTATIONS
    )


def of_items(folder: Path) -> fairrec.AuditResult:
    """Exposure of two kinds of items."""
    given = two_sided()
    del given["users"]
    return fairrec.audit(
        **given, side="items", by="kind", permutations=PERMUTATIONS, tolerance="20%"
    )


def of_counts(folder: Path) -> fairrec.AuditResult:
    """Two halves of the users, counted apart."""
    parts = [counts_of(half, part=f"half {n}") for n, half in enumerate(halves(few()))]
    return fairrec.audit(counts=parts, permutations=PERMUTATIONS)


def in_parts(folder: Path) -> fairrec.AuditResult:
    """Files that are read in parts, as large ones are."""
    given = few()
    for table in ("predictions", "users"):
        given[table].write_parquet(folder / f"{table}.parquet")
        given[table] = folder / f"{table}.parquet"
    with (
        patch("fairrec.auditing.count.open_parts", partial(open_parts, n_rows=900)),
        patch("fairrec.auditing.audit.is_large", lambda *_: True),
    ):
        return fairrec.audit(**given, permutations=PERMUTATIONS)


def searched(folder: Path) -> fairrec.AuditResult:
    """A fifth of the users are asked of a server that knows the scores."""
    with faulty_server(folder) as server:
        address, _ = server.address("plain")
        return fairrec.audit(
            CANDIDATES,
            users=USERS,
            by="gender,age",
            metrics="auc,mrr@5",
            scorer=fairrec.Endpoint(address, protocol="json", concurrency=1),
            scorer_identity="pinned",
            search=fairrec.SearchOptions("adaptive", budget_users="40%"),
            permutations=PERMUTATIONS,
            min_support=5,
        )


def re_ranked(folder: Path) -> fairrec.MitigationResult:
    """The lists of three groups are made more diverse."""
    return mitigated()


def counterfactual(folder: Path) -> fairrec.CounterfactualResult:
    """A model that serves women badly because they are women."""
    return flipped()


RUNS: dict[str, Run] = {
    "exact": exact,
    "held out": held_out,
    "values": of_values,
    "adjusted": adjusted,
    "items": of_items,
    "counts": of_counts,
    "in parts": in_parts,
    "search": searched,
    "mitigation": re_ranked,
    "counterfactual": counterfactual,
}
