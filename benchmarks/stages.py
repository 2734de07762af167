"""Where the time and the memory of an audit go, stage by stage.

Processor seconds of all threads; stages inside others are not counted twice. Modules are loaded
before, by themselves: in the command half of that is done beside reading. The memory is what the
process holds after a stage.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks import data
from benchmarks.measure import Row, call_in_child, in_seconds

STAGES = {
    "open tables": "fairrec.inputs.audit_inputs:open_tables",
    "read files": "fairrec.inputs.tables:Table.read",
    "check numbers": "fairrec.inputs.tables:Table.numbers",
    "ids to positions": "fairrec.inputs.ids:find_positions fairrec.inputs.ids:encode "
    "fairrec.inputs.ids:encode_ids",
    "the rest of reading": "fairrec.metrics.reading:read_inputs",
    "cells and lattice": "fairrec.groups.grouping:build_grouping",
    "ranking and metrics": "fairrec.metrics.measured:measure_everyone",
    "permutations": "fairrec.statistics.permutation:null_distribution",
    "moments": "fairrec.statistics.analysis:analyse",
    "missing users": "fairrec.statistics.missing:analyse_outcomes",
    "findings": "fairrec.statistics.findings:list_findings",
    "intervals and verdicts": "fairrec.statistics.verdict:decide_verdicts",
    "ratios": "fairrec.statistics.ratios:analyse_ratios",
    "covariates": "fairrec.statistics.confounders:find_confounders",
    "checksums of files": "fairrec.core.files:file_sum",
    "tables of the result": "fairrec.result.tables:group_table "
    "fairrec.result.tables:per_user_table",
    "naming": "fairrec.auditing.build_result:build_result",
    "page": "fairrec.report.page.audit:page_html",
    "write files": "fairrec.report.audit_result:AuditResult.save",
}
MODULES = ("fairrec.auditing.audit", "fairrec.auditing.build_result", "jinja2")


def run(shrink: int) -> Iterator[Row]:
    """The second of two runs: the first may compile kernels."""
    home = str(data.folder(shrink))
    call_in_child(measure, home)
    child, stages = call_in_child(measure, home)
    for name, (seconds, megabytes) in stages.items():
        yield Row("stages", name, f"{in_seconds(seconds)}, {megabytes:.0f} MB")
    yield Row("stages", "all", f"{in_seconds(child.processor_seconds)} of processor")


def measure(home: str) -> dict[str, tuple[float, float]]:
    """Stages of an audit of a table with scores."""

    def audit() -> None:
        import fairrec

        result = fairrec.audit(
            f"{home}/rows.parquet",
            users=f"{home}/users.parquet",
            by=list(data.ATTRIBUTES),
            metrics=["auc", "mrr@5", "ndcg@5"],
            depth=3,
            statistics=fairrec.Statistics(permutations=1000),
        )
        result.save(f"{home}/audit")

    return stages_of(audit)


def stages_of(
    audit: Callable[[], object], more: Mapping[str, str] | None = None
) -> dict[str, tuple[float, float]]:
    """Processor seconds of each stage, and the memory held after it, in the order of their ends.

    Parameters
    ----------
    more : further stages, and where their functions are
    """
    loading = time.process_time()
    for name in MODULES:
        import_module(name)
    spent = {"load modules": time.process_time() - loading}
    held = {"load modules": _megabytes()}
    inside: list[float] = []

    def timed(stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            inside.append(0.0)
            started = time.process_time()
            try:
                return function(*args, **named)
            finally:
                seconds = time.process_time() - started
                spent[stage] = spent.get(stage, 0.0) + seconds - inside.pop()
                held[stage] = _megabytes()
                if inside:
                    inside[-1] += seconds

        return call

    for stage, places in (STAGES | dict(more or {})).items():
        for place in places.split():
            _replace(place, partial(timed, stage))

    audit()
    return {stage: (seconds, held[stage]) for stage, seconds in spent.items()}


def _replace(place: str, wrap: Callable[[Any], Any]) -> None:
    """Wrap a function or method wherever it is known."""
    module, _, path = place.partition(":")
    owner, _, name = path.rpartition(".")
    home = import_module(module)
    if owner:
        kind = getattr(home, owner)
        setattr(kind, name, wrap(getattr(kind, name)))
        return
    function = getattr(home, name)
    wrapped = wrap(function)
    ours = [other for key, other in sys.modules.items() if key.startswith("fairrec")]
    for other in ours:
        if vars(other).get(name) is function:
            setattr(other, name, wrapped)


def _megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e6
