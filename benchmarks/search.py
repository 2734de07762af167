"""Searchers under a budget: share of the exact gap found, on trained models and a large shape."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

from benchmarks import data
from benchmarks.measure import FAIRREC, Row, call_in_child, run_child

RAW = Path("../shared/data")
MODELS = ("wide_deep", "deepfm", "dcn", "fgcnn")
OURS = "adaptive"
OTHERS = ("dpso", "pso", "fairas", "random")
N_SEEDS = 10
AT, MIN_ACCURACY = 0.1, 0.99
MIN_AT_END = 0.95
NOISE = 2
MAX_MILLISECONDS, MAX_OURS = 1, 0.15
"""Own work for a group proposed."""
MIN_SUPPORT = "0.001"
"""The smallest group is the paper's."""


@dataclass(frozen=True, slots=True)
class World:
    """What was measured on one model: tables as `fairrec-paper search-bench` writes them."""

    accuracy: list[dict[str, str]]
    convergence: list[dict[str, str]]


def run(shrink: int) -> Iterator[Row]:
    """Two children at a time; at full size 10 seeds, all four models and the shape of LFM360K."""
    is_full = shrink == 1
    seeds = N_SEEDS if is_full else 2
    models = MODELS if is_full else MODELS[1:2]
    shape = "lfm360k" if is_full else "movielens-1m"
    sources = {f"shape {shape}": [("--shape", shape)]}
    for dataset in ("movielens-1m", "blackfriday"):
        if (RAW / dataset).exists():
            runs = [trained(dataset, model) for model in models]
            sources[f"{dataset}, {_counted(models)}"] = [("--run", str(run)) for run in runs]
        else:
            yield Row("search", dataset, f"no data in {RAW}")
    with ThreadPoolExecutor(2) as pool:
        jobs = {
            name: [pool.submit(_world, source, seeds, shrink) for source in of_name]
            for name, of_name in sources.items()
        }
        worlds = {name: [job.result() for job in of_name] for name, of_name in jobs.items()}
    for name, of_name in worlds.items():
        yield from _accuracies(name, of_name)
    yield from _complete(shrink)
    yield from _own_work(f"shape {shape}", worlds[f"shape {shape}"])


def _accuracies(name: str, worlds: Sequence[World]) -> Iterator[Row]:
    rows = [row for world in worlds for row in world.accuracy]
    budgets = sorted({float(row["budget"]) for row in rows})
    found = {
        (searcher, budget): _per_seed(
            row for row in rows if row["searcher"] == searcher and float(row["budget"]) == budget
        )
        for searcher in (OURS, *OTHERS)
        for budget in budgets
    }
    at = fmean(found[OURS, AT])
    has_bar = not name.startswith("blackfriday")
    yield Row(
        "search",
        f"{name}: {OURS} with {AT:.0%} of users",
        f"{at:.4f} (sd over seeds {stdev(found[OURS, AT]):.4f})",
        f"{MIN_ACCURACY}" if has_bar else "",
        at >= MIN_ACCURACY if has_bar else None,
    )
    for searcher in (OURS, *OTHERS):
        shares = ", ".join(f"{fmean(found[searcher, budget]):.3f}" for budget in budgets)
        percents = ", ".join(f"{budget:.0%}" for budget in budgets)
        yield Row("search", f"{name}: {searcher} with {percents}", shares)
    leads = {
        (other, b): _lead([x - y for x, y in zip(found[OURS, b], found[other, b], strict=True)])
        for other in OTHERS
        for b in budgets
    }
    (other, budget), (lead, errors) = min(leads.items(), key=lambda item: item[1][1])
    yield Row(
        "search",
        f"{name}: smallest lead of {OURS} at any budget, over {other} with {budget:.0%}",
        f"{lead:+.4f} ({errors:+.1f} standard errors)",
        f"-{NOISE} standard errors",
        errors >= -NOISE,
    )
    ends = {searcher: _mean_at_end(worlds, searcher, "accuracy") for searcher in (OURS, *OTHERS)}
    words = ", ".join(
        f"{searcher} {accuracy:.3f} with {_mean_at_end(worlds, searcher, 'share'):.0%}"
        for searcher, accuracy in ends.items()
    )
    is_met = ends["dpso"] >= MIN_AT_END and ends["dpso"] > ends["pso"]
    has_bar = name.startswith("movielens-1m")
    yield Row(
        "search",
        f"{name}: without a budget",
        words,
        f"dpso {MIN_AT_END}, above pso" if has_bar else "",
        is_met if has_bar else None,
    )


def _complete(shrink: int) -> Iterator[Row]:
    """The searchers that leave nothing out."""
    names = "themis,testsgd,exact"
    source = ("--shape", "movielens-1m")
    world = _world(source, 1, shrink, names, ("--hyper", "testsgd.theta=0"))
    least = min(float(row["accuracy"]) for row in world.convergence)
    what = f"shape movielens-1m: least of {names} without a budget"
    yield Row("search", what, f"{least:.12g}", "1", least == 1)


def _own_work(name: str, worlds: Sequence[World]) -> Iterator[Row]:
    took = {searcher: _mean_at_end(worlds, searcher, "ms_per_ask") for searcher in (OURS, *OTHERS)}
    yield Row(
        "search",
        f"{name}: own work per group proposed",
        ", ".join(f"{searcher} {milliseconds:.2g} ms" for searcher, milliseconds in took.items()),
        f"{OURS} {MAX_OURS} ms, others {MAX_MILLISECONDS} ms",
        took[OURS] < MAX_OURS and max(took.values()) < MAX_MILLISECONDS,
    )
    again = _mean_at_end(worlds, OURS, "ms_per_group")
    yield Row("search", f"{name}: {OURS}, which asks again, per different group", f"{again:.3g} ms")
    # in the shape few combinations have enough users; this is the most there could be
    _, most = call_in_child(own_work_where_all_are_eligible)
    what = f"{most['n_groups']:,} eligible combinations: own work of {OURS} per group proposed"
    yield Row("search", what, f"{most['milliseconds']:.2g} ms")


def own_work_where_all_are_eligible() -> dict[str, float]:
    """Every combination of LFM360K's attributes with five users, and a budget of 1,000."""
    import numpy as np

    from fairrec.core.audit_options import AuditOptions
    from fairrec.groups.grouping import Grouping
    from fairrec.inputs.users import Attribute
    from fairrec.search.loop import search
    from fairrec.search.options import Budget
    from fairrec_paper.bench import OwnWork, evidence_of
    from fairrec_paper.reproduction.options import SearchBenchOptions

    n_values, n_each = (2, 111, 239), 5
    combinations = np.array(np.unravel_index(np.arange(math.prod(n_values)), n_values))
    codes = np.repeat(combinations, n_each, axis=1).astype(np.int32)
    rng = np.random.default_rng(data.SEED)
    values = np.asarray(rng.normal(size=codes.shape[1]))
    for n, column in zip(n_values, codes, strict=True):
        values += rng.normal(0, 0.2, n)[column]
    attributes = [
        Attribute(str(at), column, tuple(range(n)))
        for at, (column, n) in enumerate(zip(codes, n_values, strict=True))
    ]
    space = Grouping.of(attributes, AuditOptions(depth=3, min_support=n_each))
    own = OwnWork()
    hyper = SearchBenchOptions((OURS,)).searcher_parameters(OURS)
    evidence = evidence_of(space, values[None], seed=0)
    search(OURS, evidence, hyper, budget=Budget(users=1000), watch=own.watch)
    return {"n_groups": len(space.full), "milliseconds": 1000 * own.seconds / own.n_asked}


def trained(dataset: str, model: str) -> Path:
    """A run of the benchmark's own, trained where there is none yet."""
    bundle, run = data.DATA / "bundles" / dataset, data.DATA / "runs" / f"{dataset}-{model}"
    if run.exists():
        return run
    if not bundle.exists():
        run_child((FAIRREC, "prepare", dataset, "--raw", RAW / dataset, "--out", bundle))
    part = run.with_name(f"{run.name}.part")
    run_child((FAIRREC, "train", dataset, "--data", bundle, "--model", model, "--out", part))
    part.rename(run)
    return run


def _world(
    source: tuple[str, str],
    seeds: int,
    shrink: int,
    searchers: str = ",".join((OURS, *OTHERS)),
    more: tuple[str, ...] = (),
) -> World:
    out = data.folder(shrink) / "search" / f"{Path(source[1]).name}-{searchers.replace(',', '-')}"
    settings = ("--searchers", searchers, "--seeds", str(seeds), "--min-support", MIN_SUPPORT)
    run_child((FAIRREC, "search-bench", *source, *settings, *more, "--out", out, "--quiet"))
    return World(*(_read(out / f"{table}.csv") for table in ("accuracy", "convergence")))


def _read(file: Path) -> list[dict[str, str]]:
    with file.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def _per_seed(rows: Iterable[dict[str, str]]) -> list[float]:
    """The mean over models and metrics for each seed."""
    of_seed: dict[int, list[float]] = defaultdict(list)
    for row in rows:
        of_seed[int(row["seed"])].append(float(row["accuracy"]))
    return [fmean(of_seed[seed]) for seed in sorted(of_seed)]


def _lead(leads: Sequence[float]) -> tuple[float, float]:
    """The mean of the leads of the seeds, and the same in standard errors."""
    lead, error = fmean(leads), stdev(leads) / math.sqrt(len(leads))
    if error == 0:
        return lead, math.copysign(math.inf, lead) if lead else 0.0
    return lead, lead / error


def _mean_at_end(worlds: Sequence[World], searcher: str, column: str) -> float:
    rows = (row for world in worlds for row in world.convergence)
    return fmean(float(row[column]) for row in rows if row["searcher"] == searcher)


def _counted(models: Sequence[str]) -> str:
    return models[0] if len(models) == 1 else f"mean of {len(models)} models"
