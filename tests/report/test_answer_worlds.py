"""No sentence of an answer contradicts an interval: random worlds with planted harms."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.metrics.direction import harm
from fairrec.report.answer import Answer, AnswerTable, answer_lines
from fairrec.report.audit_result import AuditResult
from fairrec.report.findings import effect_in_sd, found_groups
from fairrec.report.group_rows import group_numbers
from fairrec.report.view import build_view
from fairrec.report.words import group_label, number
from fairrec.statistics.findings import Finding

BETTER = {"gain": "higher", "loss": "lower"}
METRICS = ("gain", "loss", "kind")
ROUNDING = 0.006
"""Three digits are off by half of the last."""

WORLDS = [(seed, tolerance) for seed in range(5) for tolerance in (None, "0.1", "30%")]


@cache
def world(seed: int, tolerance: str | None) -> AuditResult:
    """Groups of one, two or no attributes are worse, better or otherwise in some metrics."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([150, 600, 1500]))
    axes = {
        "gender": rng.choice(["F", "M"], n),
        "age": rng.choice(["young", "middle", "old"], n, p=[0.6, 0.3, 0.1]),
        "town": rng.choice([f"T{at}" for at in range(12)], n),
    }
    columns: dict[str, Any] = {"user_id": range(n), **axes}
    for name in METRICS:
        values = rng.normal(1.0, 0.3, n)
        for _ in range(rng.integers(0, 3)):
            chosen = rng.choice([*axes], rng.integers(1, 3), replace=False)
            values += rng.choice([-0.5, -0.2, 0.2, 0.5]) * np.all(
                [axes[axis] == rng.choice(axes[axis]) for axis in chosen], axis=0
            )
        # a share of a mean says something only where no value is below 0
        columns[name] = np.maximum(values, 0.0)
    tables = fairrec.Tables(better=BETTER)
    options = {} if tolerance is None else {"tolerance": tolerance}
    statistics = fairrec.Statistics(permutations=99)
    return fairrec.audit(
        values=pl.DataFrame(columns),
        by=[*axes],
        metrics=[*METRICS],
        tables=tables,
        depth=2,
        statistics=statistics,
        **options,
    )


def answer_of(result: AuditResult) -> Answer:
    return build_view(result.summary, result.group_table).answer


def table_of(result: AuditResult, metric: str) -> AnswerTable:
    return group_numbers(result.summary, result.group_table, metric, found_groups(result.summary))


def harm_interval(row: dict[str, Any], higher_is_better: bool) -> tuple[float, float]:
    ends = row["simultaneous_low"], row["simultaneous_high"]
    known = [np.nan if end is None else end for end in ends]
    return (-known[1], -known[0]) if higher_is_better else (known[0], known[1])


def printed_interval(text: str) -> tuple[float, float]:
    low, high = text.replace("\u2212", "-").split(" to ")
    ends = [np.inf if end == "no limit" else float(end) for end in (low, high)]
    return (-ends[0] if ends[0] == np.inf else ends[0]), ends[1]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("seed", "tolerance"), WORLDS)
def test_the_verdict_of_a_row_is_that_of_the_interval_beside_it(seed, tolerance, metric):
    result = world(seed, tolerance)
    about = result.metrics[metric]
    sign = {True: -1, False: 1, None: 0}[about.higher_is_better]
    for block in table_of(result, metric).blocks:
        for row in block.rows:
            *_, interval, verdict = row.cells
            low, high = printed_interval(interval)
            if row.served == "worse":
                assert verdict in ("worse", "beyond tolerance", "within tolerance")
                assert min(sign * low, sign * high) > 0
            elif row.served == "better":
                assert verdict == "better"
                assert max(sign * low, sign * high) < 0
            elif row.served == "differs":
                assert sign == 0 and not low <= 0 <= high
            elif verdict == "inconclusive":
                assert low <= 0 <= high
            if verdict in ("worse", "beyond tolerance"):
                assert row.served in ("worse", "differs")
            if verdict == "within tolerance":
                reach = max(abs(low), abs(high)) if sign == 0 else max(sign * low, sign * high)
                assert reach <= about.verdict.tolerance * (1 + ROUNDING) + 1e-3


@pytest.mark.parametrize(("seed", "tolerance"), WORLDS)
def test_what_is_ruled_out_is_no_less_than_what_any_interval_reaches(seed, tolerance):
    result = world(seed, tolerance)
    answer = answer_of(result)
    metric = answer.table.columns[0]
    higher = result.metrics[metric].higher_is_better
    said = " ".join(answer.sentences)
    found = re.search(
        r"no group of ([\d,]+) users or more is worse"
        r"(?: by more than ([\d.]+)(?: \([\d.,]+% of the mean\))?)?\.$",
        said,
    )
    rows = result.group_table.filter(metric=metric).rows(named=True)
    worse = [row for row in rows if row["outcome"].startswith("worse")]
    assert ("except" in said) <= bool(worse)
    if found is None:
        assert "Ruled out" not in said or said.endswith("Ruled out: nothing.")
        return
    size, most = int(found[1].replace(",", "")), float(found[2] or 0.0)
    for row in rows:
        if row["support"] >= size and row not in worse:
            # a bound is rounded up
            assert harm_interval(row, higher)[1] <= most * (1 + 1e-9)
    if worse:
        which = "group" if len(worse) == 1 else f"{len(worse)} groups"
        assert f"except the {which} shown to be worse, " in said


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("seed", "tolerance"), WORLDS)
def test_an_attribute_in_a_line_counts_its_groups_that_are_worse(seed, tolerance, metric):
    result = world(seed, tolerance)
    word = "different" if metric == "kind" else "worse"
    for block in table_of(result, metric).blocks:
        if not block.name:
            continue
        rows = result.group_table.filter(metric=metric, depth=1).filter(
            pl.col(block.name).is_not_null()
        )
        start = "differs" if metric == "kind" else "worse"
        sign = {"gain": -1, "loss": 1}.get(metric, 0)
        is_off = pl.col("is_beyond_chance") & (pl.col("outcome") != "inconclusive")
        is_hit = (
            is_off
            & (pl.col("difference").sign() * sign >= 0)
            & ((pl.col("simultaneous_low") > 0) | (pl.col("simultaneous_high") < 0))
        )
        n = rows.filter(is_hit).height
        assert n >= rows["outcome"].str.starts_with(start).sum()
        n_groups = f"{rows.height} groups"
        assert block.in_short.startswith(f"{n_groups}, {n or 'none'} significantly {word}; ")
        by, last = rows.sort("value"), -1 if metric == "loss" else 0
        end = "highest" if metric == "loss" else "lowest"
        value, support = by[block.name][last], by["support"][last]
        assert f"; {end}: {value} " in block.in_short
        assert block.in_short.endswith(f"({support:,} users)")
        # each group that is worse has a row, also where the attribute takes a line
        named = {row.label for row in block.rows}
        hit = rows.filter(is_hit)[block.name]
        assert {*hit} <= named


def worse_findings(result: AuditResult) -> list[tuple[str, Finding]]:
    return [
        (name, finding)
        for name in BETTER
        for finding in result.metrics[name].findings
        if harm(finding.difference, result.metrics[name].higher_is_better) > 0
    ]


@pytest.mark.parametrize(("seed", "tolerance"), WORLDS)
def test_the_headline_names_the_worst_group_and_calls_nobody_worse_who_is_not(seed, tolerance):
    result = world(seed, tolerance)
    answer = answer_of(result)
    worse = worse_findings(result)
    verdicts = [result.metrics[name].verdict for name in BETTER]
    n_worse = sum(one.n_worse + one.n_worse_beyond_tolerance for one in verdicts)
    assert (answer.tone == "found") == (n_worse > 0)
    assert (", but within tolerance" in answer.headline) == (bool(worse) and not n_worse)
    if not worse:
        assert (
            " is served worse" not in answer.headline and "are served worse" not in answer.headline
        )
        assert answer.headline.startswith(("No ", "Every ", "Inconclusive"))
        return
    # who is only worse beside a group that is served better comes after the others
    own = [one for one in worse if one[1].because_of is None] or worse
    outcomes = ("worse beyond tolerance", "worse", "within tolerance")
    first = min(outcomes.index(f.outcome) if f.outcome in outcomes else 1 for _, f in own)
    own = [one for one in own if (one[1].outcome or "worse") == outcomes[first]] or own
    name, finding = max(own, key=lambda one: abs(effect_in_sd(one[1], result.metrics[one[0]])))
    assert group_label(finding.group) in answer.headline
    assert f": {name} {number(finding.value)[:3]}" in answer.headline
    assert answer.table.columns[0] == name
    n = len({group_label(f.group) for _, f in worse})
    if n > 1:
        assert " groups are served worse" in answer.headline
    # and its row is in the table
    labels = [
        f"{block.name} {row.label}"
        for block in answer.table.blocks
        for row in block.rows
        if row.served == "worse"
    ]
    label = group_label(finding.group)
    assert f" {label}" in labels or label.replace("=", " ") in labels


@pytest.mark.parametrize(("seed", "tolerance"), WORLDS)
def test_a_line_of_another_metric_says_as_much_as_its_verdict(seed, tolerance):
    result = world(seed, tolerance)
    answer = answer_of(result)
    others = [name for name in METRICS if name != answer.table.columns[0]]
    assert {line.partition(":")[0] for line in answer.others} == {*others}
    for line in answer.others:
        name, _, said = line.partition(": ")
        about = result.metrics[name]
        numbers = re.search(r"(\S+) instead of ([^\s,]+)", said)
        assert (numbers is not None) == bool(about.findings)
        if said.startswith("worse"):
            here, there = (float(text.replace("\u2212", "-")) for text in numbers.groups())
            assert (here < there) == about.higher_is_better
        if name == "kind":
            assert "worse" not in said and "better" not in said
        assert said.startswith(about.verdict.outcome) or tolerance is not None


@pytest.mark.parametrize(("seed", "tolerance"), WORLDS)
def test_it_fits_and_is_the_same_of_a_loaded_result(seed, tolerance, tmp_path):
    result = world(seed, tolerance)
    assert len(answer_lines(answer_of(result))) <= 24
    if seed % 4 == 0:
        loaded = fairrec.load(result.save(tmp_path / "audit", report=False))
        assert answer_of(loaded) == answer_of(result)
