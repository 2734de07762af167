"""Searchers beside the exact answer: how much of the gap each has found after how many users.

All values are computed beforehand, so that a search costs only its own work; the searchers pay
for each user all the same, and see no value they have not paid for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from fairrec.core.arrays import IntArray
from fairrec.core.audit_options import smallest_group, take_smaller_groups
from fairrec.core.errors import InputError
from fairrec.core.options import spelled
from fairrec.core.progress import Progress
from fairrec.groups.grouping import Grouping
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.metrics import MetricAtK
from fairrec.metrics.measured import measure_everyone
from fairrec.search.bench import (
    BenchRows,
    SearchBench,
    everyone_scored,
    evidence_of,
    exact_gaps,
    worst_cells,
)
from fairrec.search.bench_options import SearchBenchOptions
from fairrec.search.loop import search
from fairrec.search.measure import popularity_proxy
from fairrec.search.own_work import OwnWork
from fairrec.search.searcher import uses_proxy
from fairrec.workflows.search import searchable


def bench_searchers(
    inputs: AuditInputs,
    metrics: Sequence[MetricAtK],
    options: SearchBenchOptions,
    progress: Progress | None = None,
) -> SearchBench:
    """Run every searcher with every seed, and compare with the exact answer.

    Parameters
    ----------
    inputs : with scores in the table
    """
    progress = progress or (lambda stage, done, total: None)
    threads = options.as_audit_options().n_threads
    space = _space(inputs, options)
    metrics = searchable(metrics)
    values = measure_everyone(inputs, metrics, threads, progress).values
    proxies = popularity_proxy(inputs, metrics, threads) if uses_proxy(options.searchers) else None
    gaps = exact_gaps(space, values)
    notes = tuple(
        f"{metric.name} is left out: no two groups differ in it, so there is no gap to find."
        for metric, gap in zip(metrics, gaps, strict=True)
        if gap == 0
    )
    kept = np.flatnonzero(gaps > 0)
    if not len(kept):
        raise InputError(
            "No metric has a gap between eligible groups, so there is nothing to search for. "
            f"Name other metrics or lower {spelled('min_support')}."
        )
    parts = [kept] if options.together else [kept[i : i + 1] for i in range(len(kept))]
    n_users = int(space.sizes.sum())
    directions = [metric.metric.higher_is_better for metric in metrics]
    worst = worst_cells(everyone_scored(space, values), directions)
    rows = BenchRows([metric.name for metric in metrics], gaps, worst, n_users, options.budgets)
    n_searches = len(options.searchers) * options.n_seeds * len(parts)
    for done, (name, seed, part) in enumerate(_searches(options, parts)):
        progress(f"benchmarking {name}", done, n_searches)
        own = OwnWork()
        outcome = search(
            name,
            evidence_of(space, values[part], seed, None if proxies is None else proxies[part]),
            options.hyper_of(name),
            seed=seed,
            watch=own.watch,
        )
        rows.add(name, seed, part, outcome, own)
    return SearchBench(
        options=options,
        **rows.frames(),
        gaps={metrics[i].name: float(gaps[i]) for i in kept},
        n_users=n_users,
        n_groups=len(space.full),
        n_combinations=space.n_combinations,
        min_users=space.min_users,
        notes=notes,
    )


def _searches(
    options: SearchBenchOptions, parts: Sequence[IntArray]
) -> Iterator[tuple[str, int, IntArray]]:
    for name in options.searchers:
        for seed in range(options.seed, options.seed + options.n_seeds):
            for part in parts:
                yield name, seed, part


def _space(inputs: AuditInputs, options: SearchBenchOptions) -> Grouping:
    audit = options.as_audit_options()
    space = Grouping.of(inputs.attributes, audit)
    if len(space.full) < 2:
        which = "Only one" if len(space.full) else "No"
        raise InputError(
            f"{which} intersection of all attributes has {space.min_users:,} users (smallest "
            f"group: {smallest_group(options.min_support)}; {inputs.n_users:,} users in all), "
            f"and a gap is between two. {take_smaller_groups()}, or name fewer attributes in "
            f"{spelled('by')}."
        )
    return space
