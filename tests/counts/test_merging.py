from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import fairrec
from fairrec.core.errors import InputError
from fairrec.counts.merging import merged, named
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


def test_the_order_of_parts_changes_nothing_but_the_last_digits():
    first, second = (counts_of(half) for half in halves(tables()))
    one, other = merged([first, second], disjoint=True), merged([second, first], disjoint=True)
    assert_frame_equal(one.rows, other.rows, rel_tol=1e-12)


def test_one_part_is_itself_whoever_it_is_of():
    counts = counts_of(tables())
    assert merged([counts]) is counts


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("a", "a"),
        ("europe", "Europe "),
        ("1/4", "1/2"),
        ("2/4", "1/2"),
        ("europe", "1/2"),
        ("1/1", "1/1"),
    ],
)
def test_users_who_may_be_counted_twice_are_refused(first, second):
    counts = counts_of(tables())
    with pytest.raises(InputError, match="counted twice"):
        merged([named(counts, first), named(counts, second)])
    # unless somebody says that no user is in both
    together = merged([named(counts, first), named(counts, second)], disjoint=True)
    assert together.rows["users"].sum() == 2 * counts.rows["users"].sum()


@pytest.mark.parametrize(("first", "second"), [("europe", "asia"), ("1/4", "2/2"), ("1/3", "2/3")])
def test_parts_of_others_are_added(first, second):
    counts = counts_of(tables())
    assert merged([named(counts, first), named(counts, second)]).info.parts == (first, second)


def test_counts_equal_to_those_of_another_part_are_refused():
    users = pl.DataFrame({"user_id": range(200), "g": [*"ab"] * 100})
    watch = pl.DataFrame({"user_id": range(200), "watch": range(200)})
    counts, others = (
        fairrec.count(values=watch.head(n), users=users.head(n), by="g", part="a")
        for n in (200, 190)
    )
    parts = [
        replace(named(one, name), where=f"{name}.parquet")
        for one, name in ((counts, "1/3"), (others, "2/3"), (counts, "3/3"))
    ]
    with pytest.raises(InputError, match=r"1/3\.parquet and 3/3\.parquet: have the same counts"):
        merged(parts)
    n_rows = counts.rows["users"].sum()
    assert merged(parts, disjoint=True).rows["users"].sum() > 2 * n_rows
    assert merged(parts[:2]).rows["users"].sum() < 2 * n_rows


@pytest.mark.parametrize(
    ("names", "held"), [(("1/4", "2/4"), "50%"), (("1/2", "2/2"), None), (("europe", "asia"), None)]
)
def test_parts_missing_by_their_names_are_noted(names, held):
    counts = counts_of(tables())
    notes = merged([named(counts, name) for name in names]).info.warnings
    found = [note for note in notes if "the parts hold" in note]
    assert [held in note for note in found] == ([True] if held else [])


def test_counts_that_do_not_say_whose_they_are_are_refused():
    counts = counts_of(tables())
    with pytest.raises(InputError, match="does not say whose counts"):
        merged([counts, named(counts, "asia")])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"by": "gender,age:10,country"}, "different attributes: gender, age:20, country"),
        ({"metrics": "auc"}, "different metrics"),
        ({"given": "age:20", "by": "gender,country"}, "different attributes"),
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
        parts[1] = _alone(parts[1])
    assert {*parts[0].info.families} != {*parts[1].info.families}
    both = {name: pl.concat([first[name], second[name]]) for name in ("users", "predictions")}
    together, whole = merged(parts), _alone(counts_of({**first, **both}))
    assert together.info.families == (("auc",), ("ndcg@5",), ("mrr@8",))
    assert_frame_equal(together.rows, whole.rows, rel_tol=1e-12, check_column_order=False)


def _alone(counts):
    from fairrec.counts.merging import split_families

    return split_families(counts)


def test_the_reason_for_a_missing_value_may_differ_between_parts():
    counts = named(counts_of(tables()), "a")
    other = named(counts, "b")
    name = "undefined: auc"
    about = counts.info.missing[name].model_copy(update={"kind": "undefined"})
    other = replace(
        other, info=other.info.model_copy(update={"missing": {**other.info.missing, name: about}})
    )
    assert counts.info.missing[name].kind == "no relevant item"
    assert merged([counts, other]).info.missing[name].kind == "undefined"


@pytest.mark.parametrize("other", ["europe", "Europe", " europe "])
def test_names_that_differ_in_capitals_and_blanks_are_one(other):
    counts = counts_of(tables())
    with pytest.raises(InputError, match="counted twice"):
        merged([named(counts, "europe"), named(counts, other)])


@pytest.mark.parametrize("part", ["17/16", "0/3", "3/0"])
def test_a_part_that_cannot_be_is_refused(part):
    with pytest.raises(InputError, match="no part of so many"):
        named(counts_of(tables()), part)


def test_quantiles_of_one_table_are_the_same_in_its_parts():
    first, second = (counts_of({**half, "by": "age:q4"}) for half in halves(tables()))
    with pytest.raises(InputError, match="cut at quantiles"):
        merged([first, second], disjoint=True)
    assert merged([first, first], disjoint=True, is_one_table=True).info == first.info.model_copy(
        update={
            "n_candidates": 2 * first.info.n_candidates,
            "ties": first.info.ties + first.info.ties,
            "metrics": merged([first, first], disjoint=True, is_one_table=True).info.metrics,
        }
    )


def test_a_value_that_one_part_alone_has_is_refused_where_each_is_an_attribute():
    users = pl.DataFrame({"user_id": range(4), "lang": ["en", "fr", "en", "de|en"], "x": [0.0] * 4})
    parts = [counts_of({"values": some, "by": "lang:each"}) for some in (users[:2], users[2:])]
    with pytest.raises(InputError, match=r"the value of 'lang\[..\]' occurs in one of them alone"):
        merged(parts, disjoint=True)
