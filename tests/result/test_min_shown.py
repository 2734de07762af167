"""Small groups are hidden in all that is passed on, and nothing else changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import is_dataclass
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from pydantic import BaseModel

import fairrec
from fairrec.core.errors import InputError
from fairrec.report.audit_result import AuditResult
from fairrec.report.page.audit import page_html
from fairrec.report.text import to_markdown
from fairrec.report.view import build_view
from fairrec.result.folder import load_groups, load_saved
from fairrec.result.metric_schema import Detectable, UndecidedGroup
from fairrec.result.min_shown import without_small
from fairrec.result.schema import AuditSummary, HistoryPoint, SearchedMetric
from fairrec.statistics.confounders import Confounder, NoLongerFound
from fairrec.statistics.inequality import CatalogueExposure, ItemsShown
from tests.builders import audit, make_tables
from tests.grouped_options import group_options

LIMIT = 10
COUNTED = {
    "AttributeSummary": {"n_missing", "small_values", "values"},
    "CategoryRatios": {"n_unknown"},
    "CertifiedSize": {"support"},
    "Coverage": {"n_users_below"},
    "Detectable": {"support"},
    "UndecidedGroup": {"support"},
    "Finding": {"support", "n_users"},
    "Adjustment": {"n_users_alone"},
    "AdjustedCovariate": {"n_missing"},
    "GroupRatios": {"support"},
    "GroupValue": {"support"},
    "ItemsShown": {"n_items", "n_shown"},
    "MetricVerdict": {"ruled_out_from"},
    "NoLongerFound": {"n_users"},
    "Unknown": {"n_known", "n_unknown"},
}
"""Fields that count users of a group or a value, by part."""
OF_ALL = {"AuditSummary", "MissingUsers"}
"""Parts that count all users."""


@cache
def world() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Values and users with a few users in many a group, some of which are served much worse."""
    rng = np.random.default_rng(4)
    n = 600
    gender = rng.choice(["F", "M"], n).astype(object)
    gender[:9] = "Zfew"
    country = rng.choice(["AT", "BE", "CH"], n, p=[0.6, 0.3, 0.1]).astype(object)
    country[7:11] = "Zrare"
    country[11:16] = None
    level = rng.choice(["low", "high"], n).astype(object)
    level[20:24] = None
    quality = rng.uniform(0.4, 0.9, n)
    quality[:9] = rng.uniform(0, 0.02, 9)
    quality[(gender == "M") & (country == "CH")] -= 0.3
    watch = np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 2, n).astype(float))
    users = pl.DataFrame(
        {"user_id": np.arange(n), "gender": gender, "country": country, "level": level},
        strict=False,
    )
    values = pl.DataFrame({"user_id": np.arange(n), "quality": quality, "watch": watch})
    return values.with_columns(pl.col("watch").fill_nan(None)).head(n - 6), users


def audited(way: str) -> AuditResult:
    values, users = world()
    options = {
        "better": "quality=higher,watch=higher",
        "min_support": 1,
        "permutations": 199,
        "tolerance": "quality=0.05",
        "top": 4,
    }
    if way == "given":
        return fairrec.audit(
            **group_options(
                values=values, users=users, by=["gender", "country"], adjust_for="level", **options
            )
        )
    if way == "search":
        tables = make_tables(n_users=120)
        search = fairrec.Search("adaptive", budget_users=100, reference=0.8)
        return audit(
            tables.predictions,
            tables.users,
            ["gender", "age", "member"],
            metrics="ndcg@5,mrr@5",
            search=search,
            permutations=39,
        )
    return fairrec.audit(
        **group_options(values=values, users=users, by=["gender", "country", "level"], **options)
    )


WAYS = ("values", "given", "search")


@cache
def result_of(way: str) -> AuditResult:
    return audited(way)


def parts(value: object) -> Iterator[object]:
    """All parts of a result."""
    if isinstance(value, BaseModel):
        yield value
        for name in type(value).model_fields:
            yield from parts(getattr(value, name))
    elif is_dataclass(value):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from parts(one)
    elif isinstance(value, tuple):
        for one in value:
            yield from parts(one)


def small_counts(summary: AuditSummary) -> list[str]:
    """Numbers of users of a group or a value that are below the limit."""
    found = []
    for part in parts(summary):
        kind = type(part).__name__
        for name in COUNTED.get(kind, ()):
            value = getattr(part, name)
            counts = [*value.values()] if isinstance(value, dict) else value
            counts = counts if isinstance(counts, list | tuple) else [counts]
            found += [f"{kind}.{name} {n}" for n in counts if n is not None and 0 < n < LIMIT]
        share = getattr(part, "kept_share", None)
        n_users = getattr(part, "support", getattr(part, "n_users", None))
        if share is not None and 0 < share * n_users < LIMIT - 1e-6:
            found.append(f"{kind}.kept_share of {n_users}")
    for one in summary.missing:
        for group in (*one.shares, *one.findings):
            if 0 < round(group.value * group.support) < LIMIT:
                found.append(f"{one.kind} {group.group}")
    return found


def test_every_part_that_counts_users_of_a_group_is_known_here():
    parts = AuditSummary.model_json_schema()["$defs"]
    counts = {"support", "n_users", "n_known", "n_unknown", "n_missing"}
    told = {kind for kind, part in parts.items() if counts & {*part["properties"]}}
    # a new one has to be told apart: of a group or a value, or of all users
    assert told - OF_ALL <= {*COUNTED}


@pytest.mark.parametrize("way", WAYS)
def test_no_small_count_is_left_in_any_file(way: str, tmp_path: Path):
    result = result_of(way)
    # or there would be nothing to hide
    assert small_counts(result.summary)
    assert (result.group_table["support"] < LIMIT).any()
    folder = result.save(tmp_path / "out", min_shown=LIMIT, aggregates_only=True)
    read = load_saved(folder)[0]
    assert small_counts(read) == []
    groups = load_groups(folder, load_saved(folder)[1])
    assert groups.height > 0
    assert groups["support"].min() >= LIMIT
    if "kept_share" in groups.columns:
        kept = (groups["kept_share"] * groups["support"]).drop_nulls()
        assert kept.filter((kept > 0) & (kept < LIMIT - 1e-6)).is_empty()
    assert {file.name for file in folder.iterdir()} == {
        *("result.json", "run.json", "groups.parquet", "report.html")
    }
    shown = result.shown(LIMIT)
    told = (folder / "result.json").read_text() + (folder / "report.html").read_text()
    told += to_markdown(build_view(shown.summary)) + repr(shown) + str(groups.to_dicts())
    assert "Zfew" not in told and "Zrare" not in told


def with_every_count(result: AuditResult) -> AuditSummary:
    """A result in which all that counts users of a group or a value counts few somewhere."""
    summary = result.summary
    few = {"gender": "Zfew"}
    metric = summary.metrics["quality"]
    finding = next(one for one in metric.findings if one.support >= LIMIT)
    finding = finding.model_copy(update={"because_of": few})
    detectable = (Detectable(support=3, difference=0.5), Detectable(support=30, difference=0.1))
    undecided = UndecidedGroup(
        group=few, value=0.5, support=9, difference=0.1, simultaneous=(-0.1, 0.3), p_adjusted=0.04
    )
    metric = metric.model_copy(
        update={
            "findings": (finding, *metric.findings),
            "verdict": metric.verdict.model_copy(update={"ruled_out_from": 4}),
            "detectable": detectable,
            "undecided": (undecided,),
        }
    )
    # three of a hundred, all but three of a hundred, thirty of a hundred
    missing = tuple(
        finding.model_copy(update={"value": share, "support": 100}) for share in (0.03, 0.97, 0.3)
    )
    history = SearchedMetric(may_be_larger_by=None, history=(HistoryPoint(users=100, gap=0.5),))
    gender = summary.attributes["gender"].model_copy(update={"small_values": {"Zfew": 7}})
    by = summary.ratios.metrics["quality"].by
    by = tuple(one.model_copy(update={"n_unknown": 3}) for one in by)
    ratios = summary.ratios.metrics["quality"].model_copy(update={"by": by})
    gone = {"metric": "quality", "raw_difference": 0.1, "difference": 0.0, "kept_share": 1.0}
    differing = Confounder(
        metric="quality", group=few, covariate="history_length", mean=1.0, mean_of_others=2.0,
        difference=0.1, explains=0.1,
    )  # fmt: skip
    given = summary.adjustment.model_copy(
        update={
            "n_users_alone": 2,
            "no_longer": (
                NoLongerFound(group=few, n_users=7, **gone),
                NoLongerFound(group={"gender": "F"}, n_users=300, **gone),
                NoLongerFound(group={"gender": "M"}, n_users=300, **{**gone, "kept_share": 0.01}),
            ),
        }
    )
    changed = {
        "metrics": {**summary.metrics, "quality": metric},
        "attributes": {**summary.attributes, "gender": gender},
        "coverage": summary.coverage.model_copy(update={"n_users_below": 3}),
        "ratios": summary.ratios.model_copy(
            update={"metrics": {**summary.ratios.metrics, "quality": ratios}}
        ),
        "adjustment": given,
        "missing": (summary.missing[0].model_copy(update={"findings": missing}),),
        "search": summary.search.model_copy(
            update={"metrics": {"quality": history, "watch": history}}
        ),
        "catalogue": CatalogueExposure(
            **{"k": 5, "n_lists": 9, "n_items": 99, "n_shown": 60, "gini": 0.5},
            by_value={
                "gender": {
                    value: ItemsShown(n_items=n, n_shown=m)
                    for value, (n, m) in {"Zfew": (7, 7), "F": (40, 3), "M": (50, 50)}.items()
                }
            },
        ),
        "confounders": (differing, differing.model_copy(update={"group": {"gender": "F"}})),
    }
    return summary.model_copy(update=changed)


def test_every_kind_of_count_is_hidden():
    result = result_of("given")
    summary = with_every_count(result)
    kinds = {found.partition(" ")[0] for found in small_counts(summary)}
    assert kinds >= {f"{kind}.{name}" for kind, names in COUNTED.items() for name in names}
    shown, groups = without_small(summary, result.group_table, LIMIT)
    assert small_counts(shown) == []
    assert "Zfew" not in shown.model_dump_json() + str(groups.to_dicts())
    metric = shown.metrics["quality"]
    assert metric.findings[0].because_of is None
    # it holds from there on all the same
    assert metric.verdict.ruled_out_from == LIMIT
    assert [one.support for one in metric.detectable] == [30]
    assert [one.group for one in shown.adjustment.no_longer] == [{"gender": "F"}]
    assert [one.group for one in shown.confounders] == [{"gender": "F"}]
    assert [*shown.catalogue.by_value["gender"]] == ["M"]
    assert metric.undecided == ()
    assert [one.value for one in shown.missing[0].findings] == [0.3]
    # its last step is the gap
    assert metric.gap is None and shown.search.metrics["quality"].history == ()
    # and is printed
    text = to_markdown(build_view(shown)) + page_html(shown, groups)
    assert "few of 594 users in smaller ones" in text
    assert "Zfew" not in text


def test_notes_do_not_tell_small_numbers():
    result = result_of("values")
    told = "attribute 'country' is missing for {} of 594 users; they form the value '(missing)'"
    notes = result.summary.warnings
    assert told.format(5) in notes
    shown = result.shown(LIMIT).summary.warnings
    assert told.format("fewer than 10") in shown
    many = result.shown(5).summary.warnings
    assert told.format(5) in many
    odd = (
        "blanks around the text of 3 of 1,003 users are not a part of it",
        "3 values are 'N/A' in column 'gender' and count as no value",
        "12 rows of 3.csv have no user",
        "no intersection of the 3 attributes has 5 users",
        "ndcg@5 is undefined for groups with 4 users in all",
    )
    summary = result.summary.model_copy(update={"warnings": odd})
    assert without_small(summary, result.group_table, LIMIT)[0].warnings[:-1] == (
        "blanks around the text of fewer than 10 of 1,003 users are not a part of it",
        "fewer than 10 values are 'N/A' in column 'gender' and count as no value",
        "12 rows of 3.csv have no user",
        "no intersection of the 3 attributes has 5 users",
        "ndcg@5 is undefined for groups with fewer than 10 users in all",
    )


def test_a_gap_with_a_hidden_end_is_hidden():
    result = result_of("values")
    shown = result.shown(LIMIT)
    found = shown.metric("quality")
    assert result.metric("quality").disadvantaged.support < LIMIT
    assert (found.gap, found.chance, found.advantaged) == (None,) * 3
    with pytest.raises(InputError, match="no gap, as fewer than two intersections"):
        shown.gap("quality")


def test_ratios_to_a_hidden_group_are_hidden():
    values = pl.DataFrame(
        {"user_id": range(100), "stay": [1.0] * 5 + [0.5, 0.2, 0.4, 0.6] * 23 + [0.1] * 3}
    )
    users = pl.DataFrame({"user_id": range(100), "plan": ["Zbest"] * 5 + ["a", "b"] * 47 + ["a"]})
    result = fairrec.audit(
        values=values,
        users=users,
        by="plan",
        tables=fairrec.Tables(better="stay=higher"),
        min_support=1,
    )
    (by,) = result.summary.ratios.metrics["stay"].by
    assert [group.group["plan"] for group in by.groups if group.to_best == 1] == ["Zbest"]
    (by,) = result.shown(LIMIT).summary.ratios.metrics["stay"].by
    assert {group.group["plan"] for group in by.groups} == {"a", "b"}
    assert {group.to_best for group in by.groups} == {None}
    assert {group.four_fifths for group in by.groups} == {None}
    assert {group.impact_ratio for group in by.groups} == {None}


def test_nothing_is_hidden_unasked_and_hiding_twice_adds_up(tmp_path: Path):
    result = result_of("values")
    assert result.shown() is result
    assert result.summary.hidden is None
    both = result.shown(5).shown(LIMIT)
    once = result.shown(LIMIT)
    assert both.group_table.equals(once.group_table)
    assert both.summary.hidden.n_groups >= once.summary.hidden.n_groups
    assert sum("are hidden in this result" in note for note in both.summary.warnings) == 1
    assert once.shown(5).summary == once.summary
    with pytest.raises(InputError, match="invalid min_shown: expected a whole number from 1"):
        result.save(tmp_path / "out", min_shown=0)
