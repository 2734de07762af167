"""Run the benchmarks: `python -m benchmarks [--quick] [--rectools PYTHON] [case ...]`."""

from __future__ import annotations

import argparse
import os
import platform
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path

from benchmarks import (
    audit,
    counts,
    data,
    endpoint,
    engines,
    lattice,
    many_attributes,
    memory,
    metrics,
    mitigation,
    models,
    parts,
    prepare,
    recommendations,
    report,
    search,
    search_findings,
    search_limit,
    stages,
    start,
    statistics,
    trained_run,
)
from benchmarks.measure import Row, as_table, call_in_child

CASES = {
    "audit": audit.run,
    "counts": counts.run,
    "endpoint": endpoint.run,
    "engines": engines.run,
    "metrics": metrics.run,
    "lattice": lattice.run,
    "many-attributes": many_attributes.run,
    "memory": memory.run,
    "mitigation": mitigation.run,
    "models": models.run,
    "parts": parts.run,
    "prepare": prepare.run,
    "recommendations": recommendations.run,
    "report": report.run,
    "run": trained_run.run,
    "search": search.run,
    "search-findings": search_findings.run,
    "search-limit": search_limit.run,
    "stages": stages.run,
    "start": start.run,
    "statistics": statistics.run,
}
NEEDS_LISTS = {"audit", "counts", "engines", "metrics", "lattice", "stages"}
QUICK = 20
N_CORES = 2


def main() -> None:
    """Make the data, run the cases, print the table and write it to bench-data/results.md."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="case", help=", ".join(CASES))
    parser.add_argument("--quick", action="store_true", help=f"1/{QUICK} of the sizes")
    parser.add_argument(
        "--rectools",
        type=Path,
        metavar="PYTHON",
        help="the Python of an environment with RecTools, for the case recommendations",
    )
    options = parser.parse_args()
    for name in options.cases:
        if name not in CASES:
            parser.error(f"no case '{name}'. Known: {', '.join(CASES)}")
    cases = options.cases or list(CASES)
    runs = CASES | {
        "recommendations": partial(recommendations.run, rectools_python=options.rectools)
    }
    shrink = QUICK if options.quick else 1
    cores = _keep_to_cores(N_CORES)
    load = os.getloadavg()[0]

    _make_data(cases, shrink)
    rows: list[Row] = []
    for case in cases:
        for row in runs[case](shrink):
            print(f"{row.case}: {row.what}: {row.measured}", flush=True)
            # the bars are for the full size
            rows.append(replace(row, is_met=None) if options.quick else row)
    loads = (load, os.getloadavg()[0])
    report = f"{_about(shrink, cores, loads)}\n\n{as_table(rows)}\n"
    data.DATA.mkdir(exist_ok=True)
    (data.DATA / "results.md").write_text(report, encoding="utf-8")
    print(f"\n{report}")


def _keep_to_cores(n_cores: int) -> int:
    """Keep this process and all its children to so many cores; how many there are."""
    if not hasattr(os, "sched_setaffinity"):
        return os.cpu_count() or 1
    allowed = sorted(os.sched_getaffinity(0))[:n_cores]
    os.sched_setaffinity(0, allowed)
    return len(allowed)


def _make_data(cases: list[str], shrink: int) -> None:
    home = data.folder(shrink)
    if NEEDS_LISTS.intersection(cases) and not (home / "lists.parquet").exists():
        call_in_child(data.make_lists, shrink)
    if "many-attributes" in cases and not (home / "wide-rows.parquet").exists():
        call_in_child(data.make_wide, shrink)


def _about(shrink: int, cores: int, loads: tuple[float, float]) -> str:
    """What was measured with; a load above the number of cores means others were at work."""
    size = "Full size" if shrink == 1 else f"1/{shrink} of full size (the bars are for full size)"
    tools = ("fairrec", "ranx", "divexplorer", "fairlearn", "polars", "pandas", "numba")
    versions = ", ".join(f"{tool} {version(tool)}" for tool in tools)
    return (
        f"{size}, {cores} cores, {platform.machine()}, load {loads[0]:.1f} before and "
        f"{loads[1]:.1f} after (it counts this run), "
        f"Python {platform.python_version()}; {versions}."
    )


if __name__ == "__main__":
    main()
