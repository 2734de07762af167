"""test_merging"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import fairrec
from fairrec.core.errors import FairRecError, InputError
from fairrec.counts.merging import merged, name_part, split_families
from fairrec.counts.rows import counted_users
from fairrec.counts.selection import select_counts
from fairrec.counts.table import Counts, read_counts, with_info
from tests.counts.small_counts import counts_of, halves, tables, values


def test_parts_are_the_whole_added_up():
    given = tables()
    first, second = halves(given)
    parts = [counts_of(first, part="a"), counts_of(second, part="b")]
    together, whole = merged(parts), counts_of(given)
    assert_frame_equal(together.rows, whole.rows, rel_tol=1e-12)
    assert together.info.parts == ("a", "b")
    for name, about in whole.info.metrics.items():
        assert together.info.metrics[name] == about
    assert together.info.missing == whole.info.missing
    assert together.info.n_candidates == whole.info.n_candidates


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("a", "a"),
        ("2/4", "1/2"),
        ("europe", "1/2"),
    ],
)
def test_users_who_may_be_counted_twice_are_refused(first, second):
    counts = counts_of(tables())
    with pytest.raises(InputError, match="counted twice"):
        merged([name_part(counts, first), name_part(counts, second)])
    # unless somebody says that no user is in both
    together = merged([name_part(counts, first), name_part(counts, second)], disjoint=True)
    assert together.rows["users"].sum() == 2 * counts.rows["users"].sum()


def test_counts_equal_to_those_of_another_part_are_refused():
    users = pl.DataFrame({"user_id": range(200), "g": [*"ab"] * 100})
    watch = pl.DataFrame({"user_id": range(200), "watch": range(200)})
    counts, others = (
        fairrec.count(values=watch.head(n), users=users.head(n), by="g", part="a")
        for n in (200, 190)
    )
    parts = [
        replace(name_part(one, name), where=f"{name}.parquet")
        for one, name in ((counts, "1/3"), (others, "2/3"), (counts, "3/3"))
    ]
    with pytest.raises(InputError, match=r"1/3\.parquet and 3/3\.parquet: have the same counts"):
        merged(parts)
    n_rows = counts.rows["users"].sum()
    assert merged(parts, disjoint=True).rows["users"].sum() > 2 * n_rows
    assert merged(parts[:2]).rows["users"].sum() < 2 * n_rows


def test_counts_that_do_not_say_whose_they_are_are_refused():
    counts = counts_of(tables())
    with pytest.raises(InputError, match="does not name its part"):
        merged([counts, name_part(counts, "asia")])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"by": "gender,age:10,country"}, "different attributes: gender, age:20, country"),
        ({"metrics": "auc"}, "different metrics"),
        ({"adjust_for": "age:20", "by": "gender,country"}, "different attributes"),
        ({"relevant": "label>=1"}, "different relevant items"),
    ],
)
def test_counts_that_were_not_made_alike_are_refused(changed, message):
    given = tables()
    parts = [counts_of(given, part="a"), counts_of({**given, **changed}, part="b")]
    with pytest.raises(InputError, match=message):
        merged(parts)


def test_quantiles_of_different_parts_are_refused():
    given = {**tables(), "by": "gender,age:q3"}
    parts = [counts_of(half, part=name) for half, name in zip(halves(given), "ab", strict=True)]
    with pytest.raises(InputError, match=r"'age' is cut at quantiles.*age:18"):
        merged(parts)


def test_other_levels_are_refused(tmp_path):
    given = values()
    (tmp_path / "one.toml").write_text("revenue = [1, 10]\n")
    (tmp_path / "two.toml").write_text("revenue = [1, 20]\n")
    parts = [counts_of(given, part=n, levels=tmp_path / f"{n}.toml") for n in ("one", "two")]
    with pytest.raises(InputError, match="'revenue' is cut at different levels"):
        merged(parts)


def test_a_metric_of_another_meaning_is_refused():
    given = values()
    given["values"] = given["values"].drop("revenue")
    given["better"] = "bought=higher"
    parts = [counts_of(given, part="a"), counts_of({**given, "better": "bought=lower"}, part="b")]
    with pytest.raises(InputError, match="not the same metric"):
        merged(parts)


def test_parts_where_metrics_were_counted_together_and_alone_are_brought_to_one_form():
    # one relevant item here and three there, which have too many values to be counted together
    first, second = tables(1), tables(2, n_users=700, n_positive=3)
    second["users"] = second["users"].with_columns(pl.col("user_id") + 10_000)
    second["predictions"] = second["predictions"].with_columns(pl.col("user_id") + 10_000)
    parts = [counts_of(first, part="a"), counts_of(second, part="b")]
    if {*parts[0].info.families} == {*parts[1].info.families}:
        parts[1] = split_families(parts[1])
    assert {*parts[0].info.families} != {*parts[1].info.families}
    both = {name: pl.concat([first[name], second[name]]) for name in ("users", "predictions")}
    together, whole = merged(parts), split_families(counts_of({**first, **both}))
    assert together.info.families == (("auc",), ("ndcg@5",), ("mrr@8",))
    assert_frame_equal(together.rows, whole.rows, rel_tol=1e-12, check_column_order=False)


def test_a_value_that_one_part_alone_has_is_refused_where_each_is_an_attribute():
    users = pl.DataFrame({"user_id": range(4), "lang": ["en", "fr", "en", "de|en"], "x": [0.0] * 4})
    parts = [counts_of({"values": some, "by": "lang:each"}) for some in (users[:2], users[2:])]
    with pytest.raises(InputError, match=r"the value of 'lang\[..\]' occurs in one of them alone"):
        merged(parts, disjoint=True)


SQL = {
    "family": ["watched"] * 3,
    "gender": ["F", "F", "M"],
    "age": [20, 30, 20],
    "level": ["0", "1", None],
    "users": [2, 3, 4],
    "watched": [0.0, 3.0, None],
    "watched^2": [0.0, 3.0, None],
}


def test_columns_tell_what_another_tool_did_not():
    counts = with_info(Counts(pl.DataFrame(SQL), None), {"watched": False})
    info = counts.info
    assert info.by == ("gender", "age")
    assert info.attributes["age"].kind == "whole number"
    about = info.metrics["watched"]
    assert (about.higher_is_better, about.n_expected, about.n_undefined) == (False, 9, 4)
    assert with_info(counts, {}) is counts


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"family": ["watched,liked"] * 3}, "no columns 'liked'"),
        ({"family": ["watched", "watched", "watched,watched"]}, "in two families"),
    ],
)
def test_families_that_do_not_fit_their_columns_are_refused(changed, message):
    with pytest.raises(InputError, match=message):
        with_info(Counts(pl.DataFrame({**SQL, **changed}), None), {})


def test_who_has_no_value_is_told_by_group():
    counts = with_info(Counts(pl.DataFrame(SQL), None), {})
    rows = counts.rows.filter(family="undefined: watched")
    assert rows.select("gender", "users", "missing").rows() == [
        ("F", 2, 0.0),
        ("F", 3, 0.0),
        ("M", 4, 4.0),
    ]
    (outcome,) = counted_users(select_counts(counts, [], [], None)).outcomes
    assert (outcome.kind, outcome.metrics) == ("undefined", ("watched",))


@pytest.mark.parametrize(
    ("more", "better", "message"),
    [
        ({"spent": [1.0] * 3, "spent^2": [1.0] * 3}, {}, "'spent' is in no family"),
        ({}, {"watch": True}, "No metric in these counts 'watch'"),
    ],
)
def test_nothing_is_left_aside(more, better, message):
    with pytest.raises(FairRecError, match=message):
        with_info(Counts(pl.DataFrame({**SQL, **more}), None), better)


def test_the_better_end_of_a_known_metric_cannot_be_said():
    named = {"watched": "hit@5", "watched^2": "hit@5^2"}
    rows = pl.DataFrame(SQL).rename(named).with_columns(family=pl.lit("hit@5"))
    with pytest.raises(InputError, match="which end of hit@5 is better is known"):
        with_info(Counts(rows, None), {"hit@5": False})


def test_sums_beyond_the_bounds_of_a_metric_are_refused():
    named = {"watched": "hit@5", "watched^2": "hit@5^2"}
    rows = pl.DataFrame(SQL).rename(named).with_columns(family=pl.lit("hit@5"))
    beyond = rows.with_columns(pl.col("hit@5") * 1.2, pl.col("hit@5^2") * 1.44)
    with pytest.raises(InputError, match=r"'hit@5' lies between 0 and 1, and has the mean 1.2"):
        with_info(Counts(beyond, None), {})


duckdb = pytest.importorskip("duckdb")


DOCS = Path(__file__).parents[2] / "docs" / "scale.md"


STATEMENTS = re.findall(r"```sql\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)


KEYS = ["gender", "age"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder as the statements expect it."""
    monkeypatch.chdir(tmp_path)
    for name in ("predictions", "users"):
        (tmp_path / name).mkdir()
    return tmp_path


def write(folder: Path, n_positive: int, is_tied: bool) -> None:
    rng = np.random.default_rng(n_positive)
    n, length = 700, 12
    labels = np.zeros((n, length))
    for row in labels[10 if n_positive > 1 else 0 :]:
        row[rng.choice(length, n_positive, replace=False)] = 1
    pl.DataFrame(
        {
            "user_id": np.repeat(np.arange(n), length),
            "item_id": np.tile(np.arange(length), n),
            # a few different scores, and one in all of every seventh list
            "score": rng.integers(0, 9, n * length) * (np.arange(n * length) // length % 7 > 0)
            if is_tied
            else rng.permutation(n * length) / 1000,
            "label": labels.ravel(),
        }
    ).write_parquet(folder / "predictions" / "part.parquet")
    pl.DataFrame(
        {
            "user_id": np.arange(n),
            "gender": rng.choice(["F", "M"], n),
            "age": rng.integers(20, 60, n),
        }
    ).write_parquet(folder / "users" / "part.parquet")


def counted(metrics: str) -> fairrec.Counts:
    return fairrec.count("predictions", users="users", by="gender,age:10", metrics=metrics)


def by_value(rows: pl.DataFrame, name: str) -> pl.DataFrame:
    """Counts by attributes and value, whatever levels are called."""
    value = (pl.col(name) / pl.col("users")).round(9).alias("value")
    return (
        rows.filter(pl.col(name).is_not_null())
        .group_by(*KEYS, value)
        .agg(pl.col("users", name, f"{name}^2").sum())
        .sort(*KEYS, "value")
    )


@pytest.mark.parametrize("is_tied", [False, True])
def test_one_relevant_item_a_user(folder, is_tied):
    write(folder, 1, is_tied)
    duckdb.sql(STATEMENTS[0])
    by_sql, ours = read_counts(Path("counts.parquet")), counted("auc,ndcg@10")
    assert ours.info.families == (("auc", "ndcg@10"),)
    for name in ("auc", "ndcg@10"):
        mine = ours.rows.filter(family="auc,ndcg@10")
        assert_frame_equal(by_value(by_sql.rows, name), by_value(mine, name), rel_tol=1e-12)
    users = fairrec.audit("predictions", users="users", by="gender,age:10", metrics="auc,ndcg@10")
    result = fairrec.audit(counts="counts.parquet")
    assert result.summary.n_users == users.summary.n_users == 700
    for name, about in users.metrics.items():
        assert result.metrics[name].mean == pytest.approx(about.mean, rel=1e-12)
        assert result.metrics[name].gap == pytest.approx(about.gap, rel=1e-12)
        assert result.metrics[name].definition == about.definition
        assert result.metrics[name].bounds == about.bounds


@pytest.mark.parametrize("is_tied", [False, True])
def test_any_number_of_relevant_items(folder, is_tied):
    write(folder, 4, is_tied)
    duckdb.sql(STATEMENTS[1])
    by_sql, ours = read_counts(Path("counts.parquet")), split_families(counted("ndcg@10"))
    columns = [*KEYS, "level", "users", "ndcg@10", "ndcg@10^2"]
    mine = ours.rows.filter(family="ndcg@10").select(columns).sort(*KEYS, "level")
    its = by_sql.rows.select(columns).sort(*KEYS, "level")
    assert_frame_equal(its, mine, rel_tol=1e-12)
    result = fairrec.audit(counts="counts.parquet")
    assert result.metrics["ndcg@10"].n_undefined == 10
