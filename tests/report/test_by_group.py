"""Numbers by group as data frames: against pandas, by planted values, saved and loaded."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fairrec
from fairrec.core.errors import FairRecError
from fairrec.report.audit_result import AuditResult

N_USERS = 1500


@cache
def people() -> pl.DataFrame:
    """Text, whole and broken numbers, booleans, numbers to bin, each but one with gaps."""
    rng = np.random.default_rng(0)
    gender = rng.choice(["F", "M"], N_USERS)
    level = rng.choice([1, 2, 10], N_USERS)
    low = 0.2 * (gender == "F") * (level == 10)
    table = pl.DataFrame(
        {
            "user_id": [f"u{at}" for at in range(N_USERS)],
            "gender": gender,
            "level": level,
            "share": rng.choice([0.5, 1.25], N_USERS),
            "member": rng.random(N_USERS) < 0.4,
            "tenure": rng.integers(0, 60, N_USERS),
            "gain": 0.5 - low + rng.normal(0, 0.1, N_USERS),
            "loss": 2.0 + low + rng.normal(0, 0.1, N_USERS),
            "kind": rng.normal(0, 1, N_USERS),
        }
    )
    gaps = {"level": 7, "share": 11, "member": 13, "gain": 17}
    at = pl.int_range(pl.len())
    return table.with_columns(
        *(pl.when(at % step != 0).then(name).alias(name) for name, step in gaps.items())
    )


BY = ("gender", "level", "share", "member", "tenure:q4")
NAMES = [name.partition(":")[0] for name in BY]
BETTER = {"gain": "higher", "loss": "lower"}


def audited(table: Any = None, **options: Any) -> AuditResult:
    return fairrec.audit(
        values=people() if table is None else table,
        by=list(BY),
        metrics=["gain", "loss", "kind"],
        tables=fairrec.Tables(better=BETTER),
        depth=2,
        statistics=fairrec.Statistics(permutations=99, max_undefined=0.2),
        **options,
    )


@cache
def result() -> AuditResult:
    return audited()


def users_of(names: list[str]) -> pd.DataFrame:
    """The users as pandas has them, with the bins of the result."""
    return result().per_user.to_pandas()[[*names, "gain", "loss", "kind"]]


def expected(names: list[str], metric: str) -> dict[tuple[Any, ...], tuple[int, float, float]]:
    """Users, mean and difference from all others by group, as a slow loop has them."""
    table = users_of(names).dropna(subset=[metric])
    groups = table.groupby(names, dropna=False)[metric].agg(["count", "mean"])
    total, n_all = table[metric].sum(), len(table)
    return {
        key if isinstance(key, tuple) else (key,): (
            int(row["count"]),
            row["mean"],
            row["mean"] - (total - row["count"] * row["mean"]) / (n_all - row["count"]),
        )
        for key, row in groups.iterrows()
        if row["count"] >= result().summary.coverage.min_users
    }


def as_key(values: tuple[Any, ...]) -> tuple[str, ...]:
    """The values of a group as text, whatever is missing by one name."""
    return tuple("(missing)" if pd.isna(value) else str(value) for value in values)


@pytest.mark.parametrize(
    "names",
    [[name] for name in NAMES] + [["gender", "level"], ["level", "member"], ["tenure", "share"]],
)
def test_users_values_and_differences_are_those_of_pandas(names):
    for metric in ("gain", "loss", "kind"):
        table = result().by_group(*names, metric=metric)
        columns = ("users", "value", "difference", "low", "high", "harm", "verdict")
        assert table.columns == [*names, *columns]
        wanted = {as_key(key): row for key, row in expected(names, metric).items()}
        numbers = table.select("users", "value", "difference").rows()
        found = dict(zip(map(as_key, table.select(names).rows()), numbers, strict=True))
        assert {*found} == {*wanted} and table.height == len(wanted)
        for key, row in wanted.items():
            assert found[key] == pytest.approx(row, rel=1e-9, abs=1e-12)


def test_values_have_the_types_of_the_table_of_users_and_join_with_it():
    types = {"gender": pl.String, "level": pl.Int64, "share": pl.Float64, "member": pl.Boolean}
    for name, kind in types.items():
        table = result().by_group(name, metric="kind")
        assert table.schema[name] == kind
        joined = people().join(table, on=name, how="left", nulls_equal=True)
        assert joined.height == N_USERS and joined["users"].null_count() == 0
        # each user has the number of users that have his value
        counts = people()[name].value_counts().sort(name)
        assert joined["users"].sum() == (counts["count"] ** 2).sum()


def test_values_are_in_their_order_bins_are_ordered_labels_and_missing_is_null():
    assert result().by_group("level", metric="loss")["level"].to_list() == [1, 2, 10, None]
    assert result().by_group("member", metric="loss")["member"].to_list() == [False, True, None]
    bins = result().by_group("tenure", metric="loss")["tenure"]
    assert isinstance(bins.dtype, pl.Enum)
    assert bins.to_list() == bins.dtype.categories.to_list() and len(bins) == 4
    assert bins.to_list() == bins.sort().to_list()


def test_difference_is_as_measured_and_harm_is_positive_where_worse():
    for metric, sign in (("gain", -1), ("loss", 1)):
        table = result().by_group("gender", "level", metric=metric)
        hit = table.row(
            by_predicate=(pl.col("gender") == "F") & (pl.col("level") == 10), named=True
        )
        assert hit["verdict"] == "worse"
        assert sign * hit["difference"] > 0.1 and hit["harm"] > 0.1
        assert table["harm"].to_list() == pytest.approx((sign * table["difference"]).to_list())
    assert result().by_group("gender", metric="kind")["harm"].to_list() == [None, None]


def test_differences_and_ratios_have_every_group_of_one_attribute_with_intervals():
    differences, ratios = result().difference("gain"), result().ratio("gain")
    keys = ["attribute", "group"]
    assert ratios.select(keys).equals(differences.select(keys))
    for name in NAMES:
        own = result().by_group(name, metric="gain")
        mine = differences.filter(pl.col("attribute") == name)
        assert mine["group"].to_list() == own[name].cast(pl.String).fill_null("(missing)").to_list()
        assert mine["difference"].equals(own["difference"])
        shares = ratios.filter(pl.col("attribute") == name)["ratio"]
        assert shares.to_list() == pytest.approx(own["value"] / (own["value"] - own["difference"]))
    for table, size in ((differences, "difference"), (ratios, "ratio")):
        assert ((table["low"] < table[size]) & (table[size] < table["high"])).all()


def test_by_hand():
    """Four users of one group have 3, four of another 1: a ratio of 3, a difference of 2."""
    table = pl.DataFrame({"user_id": range(8), "g": [*"aaaabbbb"], "m": [3.0] * 4 + [1.0] * 4})
    found = fairrec.audit(
        values=table,
        by="g",
        min_support=2,
        tables=fairrec.Tables(better={"m": "lower"}),
        statistics=fairrec.Statistics(permutations=99),
    )
    by = found.by_group("g", metric="m")
    assert by.select("g", "users", "value", "difference", "harm").rows() == [
        ("a", 4, 3.0, 2.0, 2.0),
        ("b", 4, 1.0, -2.0, -2.0),
    ]
    assert found.overall.rows() == [("m", 8, 2.0, found.metrics["m"].verdict.outcome)]
    assert found.ratio("m")["ratio"].to_list() == pytest.approx([3.0, 1 / 3])


def test_a_metric_is_found_by_its_name():
    assert result()["gain"] is result().metrics["gain"]
    assert len(repr(result()).splitlines()) <= 10


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (("gendre",), "Did you mean 'gender'"),
        (("gender", "gender"), "name one attribute or more, each once"),
        ((), "name one attribute or more, each once"),
        (("gender", "level", "share"), "groups of up to 2 attributes. Audit again with depth=3"),
    ],
)
def test_what_it_cannot_answer_is_said(names, says):
    with pytest.raises(FairRecError, match=says):
        result().by_group(*names)


def test_frames_are_of_the_callers_kind():
    users = people().drop("user_id").with_row_index("user_id").to_pandas()
    found = audited(users)
    table = found.by_group("gender", "level", metric="gain")
    assert isinstance(table, pd.DataFrame) and isinstance(found.overall, pd.DataFrame)
    assert isinstance(found.difference(), pd.DataFrame) and isinstance(found.ratio(), pd.DataFrame)
    wanted = result().by_group("gender", "level", metric="gain")
    assert table["value"].tolist() == pytest.approx(wanted["value"].to_list())


def test_a_loaded_result_gives_the_same(tmp_path: Path):
    result().save(tmp_path / "audit", report=False)
    loaded = fairrec.load(tmp_path / "audit")
    for names in (*[[name] for name in NAMES], ["gender", "tenure"]):
        fresh, again = (one.by_group(*names) for one in (result(), loaded))
        assert again.equals(fresh) and again.schema == fresh.schema
    assert loaded.overall.equals(result().overall)
    assert loaded.difference().equals(result().difference())
    assert loaded.ratio().equals(result().ratio())


@pytest.mark.parametrize(
    "draw",
    [
        lambda plot: plot.groups(),
        lambda plot: plot.groups("loss"),
        lambda plot: plot.ruled_out("gain"),
        lambda plot: plot.intersections("gender", "level"),
        lambda plot: plot.intersections("level", "gender", metric="loss"),
    ],
)
def test_charts_are_of_altair(draw):
    altair = pytest.importorskip("altair")
    chart = draw(result().plot)
    assert isinstance(chart, altair.TopLevelMixin)
    assert chart.to_dict()["datasets"]


def test_a_chart_of_what_there_is_not_says_so():
    with pytest.raises(FairRecError, match="Did you mean 'gender'"):
        result().plot.intersections("gendr", "level")
    with pytest.raises(FairRecError, match="Did you mean 'gain'"):
        result().plot.groups("gian")
