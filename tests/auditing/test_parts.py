"""test_parts"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import fairrec
from fairrec.auditing import audit, count
from fairrec.auditing.audit import has_pooled, is_of_everyone, refuse_engine
from fairrec.auditing.count import counted_in_parts
from fairrec.core.errors import InputError, OutputError
from fairrec.counts.executor import LocalExecutor
from fairrec.inputs.parts.partition import open_parts
from fairrec.inputs.table_options import TableOptions
from fairrec.metrics import METRICS
from fairrec.scoring.endpoint import Endpoint
from fairrec.search.options import SearchOptions
from tests.auditing.test_audit_counts import differences
from tests.counts.small_counts import BY, tables, values


@pytest.fixture
def in_parts(tmp_path, monkeypatch):
    """Files that are taken for large."""
    given = tables()
    for name in ("predictions", "users"):
        given[name].write_parquet(tmp_path / f"{name}.parquet")
    monkeypatch.setattr(count, "open_parts", partial(open_parts, n_rows=900))
    monkeypatch.setattr(audit, "is_large", lambda *_: True)
    return {
        "predictions": tmp_path / "predictions.parquet",
        "users": tmp_path / "users.parquet",
        "by": BY,
        "metrics": "auc,mrr@8",
        "permutations": 100,
    }


def test_an_audit_in_parts_is_that_of_the_whole(in_parts, tmp_path, monkeypatch):
    found = fairrec.audit(**in_parts)
    monkeypatch.undo()
    whole = fairrec.audit(**in_parts)
    mine, its = json.loads(whole.to_json()), json.loads(found.to_json())
    (note,) = [one for one in its["warnings"] if "were not looked at unasked" in one]
    its["warnings"].remove(note)
    assert sorted(its.pop("warnings")) == sorted(mine.pop("warnings"))
    assert differences(mine, its) == []
    assert its["inputs"].keys() == {"predictions", "users"}


def test_its_users_are_saved_and_loaded(in_parts, tmp_path):
    result = fairrec.audit(**in_parts)
    assert result.per_user is None
    result.save(tmp_path / "audit")
    loaded = fairrec.load(tmp_path / "audit")
    assert loaded.per_user.height == loaded.summary.n_users == 580
    assert not loaded.summary.is_aggregates_only
    result.save(tmp_path / "shared", aggregates_only=True)
    assert not (tmp_path / "shared" / "per_user.parquet").exists()
    assert isinstance(result.per_user_parts, pl.LazyFrame)


def test_metrics_are_those_that_the_tables_allow(in_parts, monkeypatch):
    del in_parts["metrics"]
    result = fairrec.audit(**in_parts)
    monkeypatch.undo()
    assert [*result.metrics] == [*fairrec.audit(**in_parts).metrics]


def test_bins_by_quantiles_are_those_of_the_whole(in_parts, monkeypatch):
    in_parts["by"] = "gender,age:q4"
    found = fairrec.audit(**in_parts)
    monkeypatch.undo()
    whole = fairrec.audit(**in_parts)
    mine, its = json.loads(whole.to_json()), json.loads(found.to_json())
    assert differences(mine["attributes"], its["attributes"]) == []
    assert differences(mine["metrics"], its["metrics"]) == []


def test_values_that_nobody_can_cut_are_read_whole(tmp_path, monkeypatch):
    given = values()
    given["values"].write_parquet(tmp_path / "values.parquet")
    given["values"] = tmp_path / "values.parquet"
    whole = fairrec.audit(**given, permutations=100)
    monkeypatch.setattr(count, "open_parts", partial(open_parts, n_rows=300))
    monkeypatch.setattr(audit, "is_large", lambda *_: True)
    found = fairrec.audit(**given, permutations=100)
    mine, its = json.loads(whole.to_json()), json.loads(found.to_json())
    assert differences(mine, its) == []


def test_nothing_is_left_on_the_disk_after_an_error(in_parts, tmp_path):
    (tmp_path / "scratch").mkdir()
    pl.read_parquet(in_parts["users"])[50:].write_parquet(in_parts["users"])
    with pytest.raises(InputError, match="not in"):
        fairrec.audit(**in_parts, scratch=tmp_path / "scratch")
    assert [*(tmp_path / "scratch").iterdir()] == []
    with pytest.raises(OutputError, match="cannot hold the scratch files"):
        fairrec.audit(**in_parts, scratch=tmp_path / "none")


def test_the_call_that_repeats_it_is_that_of_the_whole(in_parts, monkeypatch):
    of_scorer = {**in_parts, "scorer": lambda users, items: items}
    said = [fairrec.audit(**given).summary.command for given in (in_parts, of_scorer)]
    monkeypatch.undo()
    assert said == [fairrec.audit(**given).summary.command for given in (in_parts, of_scorer)]
    assert "by=['gender', 'age:20', 'country'], metrics=['auc', 'mrr@8']" in said[0]
    assert "scorer=scorer" in said[1]


def test_notes_are_those_of_the_whole_and_no_part_speaks_for_all(tmp_path, monkeypatch):
    """Users without a list are in a part of their own, in which nothing is a hit."""
    users = pl.DataFrame({"user_id": range(60), "gender": ["F", "M"] * 30})
    lists = pl.DataFrame({"user_id": [i for i in range(40) for _ in range(2)]})
    lists = lists.with_columns(item_id=pl.int_range(pl.len()) % 7, rank=pl.int_range(pl.len()) % 2)
    held_out = pl.DataFrame({"user_id": [*range(10, 60), *range(900, 940)]})
    held_out = held_out.with_columns(item_id=pl.int_range(pl.len()) % 5)
    held_out = pl.concat([held_out, held_out.head(30)])
    given = {"predictions": lists, "test": held_out, "users": users}
    for name, table in given.items():
        table.write_parquet(tmp_path / f"{name}.parquet")
    given = {name: tmp_path / f"{name}.parquet" for name in given}
    given |= {"by": "gender", "permutations": 100, "min_support": 2}
    whole = fairrec.audit(**given)
    monkeypatch.setattr(count, "open_parts", partial(open_parts, n_rows=20))
    monkeypatch.setattr(audit, "is_large", lambda *_: True)
    found = fairrec.audit(**given)
    repeat = "test.parquet: 30 of 80 held-out rows repeat a user and item; such a pair counts once"
    unknown, *others = found.warnings[:2]
    assert unknown.startswith("40 users of test.parquet (")
    assert unknown.endswith(" and 37 more) are not in users.parquet and are left out")
    assert others == [repeat]
    assert len(found.warnings) == len(whole.warnings) + 1
    assert found.warnings[1:-1] == whole.warnings[1:]


def test_it_follows_a_plan_made_with_users_in_memory(in_parts, tmp_path):
    users = pl.read_parquet(in_parts["users"]).with_columns(pl.col("user_id").cast(pl.String))
    users = users.filter(pl.col("user_id").cast(int) < 580)
    asked = {**in_parts, "users": users}
    planned = {name: asked[name] for name in ("users", "by", "metrics", "permutations")}
    fairrec.plan(**planned).save(tmp_path / "plan.toml")
    for given, n_deviations in ((users, 0), (users.with_columns(gender=pl.lit("F")), 1)):
        found = fairrec.audit(**{**asked, "users": given}, plan=tmp_path / "plan.toml").summary
        said = [one for one in found.plan.deviations if "users in memory" in one]
        assert len(said) == n_deviations


def test_it_is_compared_by_its_users_saved_or_not(in_parts, tmp_path, monkeypatch):
    scattered = pl.read_parquet(in_parts["predictions"]).sample(fraction=1, shuffle=True, seed=1)
    scattered.write_parquet(in_parts["predictions"])
    found = fairrec.audit(**in_parts)
    found.save(tmp_path / "parts")
    monkeypatch.undo()
    whole = fairrec.audit(**in_parts)
    for its in (found, tmp_path / "parts"):
        summary = fairrec.compare(whole, its).summary
        assert summary.pairing.is_paired
        assert summary.pairing.n_shared == 580
        assert "checksum of users and attributes" not in [one.what for one in summary.differences]


EXACT = SearchOptions("exact")


ENDPOINT = object.__new__(Endpoint)


def test_everyone_is_scored_by_a_table_or_a_model_that_costs_nothing():
    assert is_of_everyone(None, None)
    assert is_of_everyone(EXACT, len)
    assert not is_of_everyone(EXACT, None)
    assert not is_of_everyone(EXACT, ENDPOINT)
    assert not is_of_everyone(SearchOptions("adaptive"), len)


def test_metrics_that_are_no_mean_are_known_by_any_spelling():
    assert has_pooled(["auc", "Pooled_AUC"])
    assert not has_pooled(["auc", "nobody_knows"])
    assert not has_pooled(None)


def test_workers_are_refused_where_they_have_nothing_to_do():
    refuse_engine(EXACT, len)
    with pytest.raises(InputError, match="A search scores few users"):
        refuse_engine(SearchOptions("adaptive"), len)
    with pytest.raises(InputError, match="An endpoint is asked by one process"):
        refuse_engine(EXACT, ENDPOINT)
    with pytest.raises(InputError, match="Two lists of each user"):
        refuse_engine(EXACT, len, "other.parquet")


def test_metrics_that_are_no_mean_over_users_are_refused():
    with pytest.raises(InputError, match="pooled_auc is no mean over users"):
        fairrec.count(**{**tables(), "metrics": "auc,pooled_auc"})


@pytest.mark.parametrize("name", ["family", "level", "users", "missing"])
def test_an_attribute_cannot_have_the_name_of_a_column_of_counts(name):
    given = tables()
    given["users"] = given["users"].rename({"gender": name})
    with pytest.raises(InputError, match=f"Attribute '{name}' has the name"):
        fairrec.count(**{**given, "by": name})


def test_levels_are_made_only_where_they_are_needed(tmp_path):
    with pytest.raises(InputError, match="Every metric has bounds"):
        fairrec.count(**tables(), make_levels=tmp_path / "levels.toml")
    assert not (tmp_path / "levels.toml").exists()
    fairrec.count(**values(), make_levels=tmp_path / "levels.toml")
    assert "revenue" in (tmp_path / "levels.toml").read_text()


def test_it_says_whose_counts_they_are():
    assert fairrec.count(**tables(), part="asia").info.parts == ("asia",)
    assert fairrec.count(**tables()).info.parts == ()


def test_counts_are_the_same_whatever_the_order_of_rows():
    given = tables()
    mixed = {**given, "predictions": given["predictions"].sample(fraction=1, shuffle=True, seed=1)}
    first, second = fairrec.count(**given), fairrec.count(**mixed)
    assert first.rows.select(pl.col("users", "level", "family")).equals(
        second.rows.select(pl.col("users", "level", "family"))
    )


def test_values_in_files_of_other_names_add_up(tmp_path):
    given = values()
    table = given.pop("values")
    counts = []
    for at, how in ((0, "make_levels"), (1, "levels")):
        table.filter(pl.col("user_id") % 2 == at).write_parquet(tmp_path / f"{at}.parquet")
        source = {"values": tmp_path / f"{at}.parquet", how: tmp_path / "levels.toml"}
        counts.append(fairrec.count(**given, **source, part=f"{at + 1}/2"))
    assert fairrec.audit(counts=counts, permutations=20).summary.n_users == 800


def test_a_blank_part_is_none():
    assert fairrec.count(**tables(), part="  ").info.parts == ()


def test_tables_that_would_not_fit_are_refused_before_they_are_read(tmp_path, monkeypatch):
    users = pl.DataFrame({"user_id": range(9), "gender": ["F", "M", "X"] * 3})
    text = users.select("user_id", watched=pl.col("user_id") / 9).write_csv()
    values = tmp_path / "values.csv"
    values.write_text(text)
    monkeypatch.setattr("fairrec.inputs.room.PER_BYTE_OF_TEXT", 3 * 10**8 // len(text))
    asked = {"values": values, "users": users, "by": "gender"}
    fairrec.count(**asked, max_memory="0.6GB")
    with pytest.raises(InputError, match=r"values.csv, read at once, need about 0.6 GB of memory"):
        fairrec.count(**asked, max_memory="0.5GB")


@pytest.fixture
def stored(tmp_path: Path) -> dict[str, str]:
    return in_files(tmp_path)


def in_files(tmp_path: Path, **about: int) -> dict[str, str]:
    """Predictions and users in files."""
    given = tables(**about)
    for name in ("predictions", "users"):
        given[name].write_parquet(tmp_path / f"{name}.parquet", row_group_size=500)
    return {name: str(tmp_path / f"{name}.parquet") for name in ("predictions", "users")}


def counted(stored, monkeypatch, n_rows, workers=1, **options):
    monkeypatch.setattr(count, "open_parts", partial(open_parts, n_rows=n_rows))
    said = []
    given = {"users": stored["users"], "by": BY, "metrics": "auc,ndcg@5,mrr@8", **options}
    with counted_in_parts(
        stored["predictions"],
        TableOptions.of(**given),
        LocalExecutor(workers),
        {},
        lambda *told: said.append(told),
        per_user=options.pop("per_user", None),
    ) as (counts, parts):
        return counts, len(parts), said


@pytest.mark.parametrize("n_rows", [8, 100, 1000, 100_000])
def test_parts_of_any_size_give_the_counts_of_the_whole(tmp_path, monkeypatch, n_rows):
    # so few that each can be a part
    stored = in_files(tmp_path, n_users=160)
    counts, n_parts, _ = counted(stored, monkeypatch, n_rows)
    assert n_parts >= 140 * 8 / max(n_rows, 8) / 1.5
    whole = fairrec.count(**stored, by=BY, metrics="auc,ndcg@5,mrr@8")
    assert_frame_equal(counts.rows, whole.rows, rel_tol=1e-12)
    assert counts.info == whole.info


def test_the_number_of_workers_changes_no_bit(stored, monkeypatch):
    one, _, _ = counted(stored, monkeypatch, 300)
    three, _, _ = counted(stored, monkeypatch, 300, workers=3)
    assert one.rows.equals(three.rows)


def test_progress_is_told_in_rows(stored, monkeypatch):
    _, _, said = counted(stored, monkeypatch, 1000)
    counting = [told for told in said if "counting" in told[0] and told[2] == 580 * 8]
    assert counting[0][1] == 0
    assert counting[-1][1] == 580 * 8


def test_scattered_rows_are_counted_too(stored, monkeypatch):
    expected, _, _ = counted(stored, monkeypatch, 1000)
    table = pl.read_parquet(stored["predictions"])
    table.sample(fraction=1, shuffle=True, seed=1).write_parquet(stored["predictions"])
    found, _, _ = counted(stored, monkeypatch, 1000)
    assert_frame_equal(found.rows, expected.rows, rel_tol=1e-12)


def test_a_bad_row_in_any_part_is_an_error(stored, monkeypatch):
    table = pl.read_parquet(stored["predictions"])
    broken = table.with_columns(
        score=pl.when(pl.int_range(pl.len()) == 4000).then(float("nan")).otherwise("score")
    )
    broken.write_parquet(stored["predictions"])
    with pytest.raises(InputError, match="score"):
        counted(stored, monkeypatch, 500)


def test_values_of_users_are_written_part_by_part(stored, monkeypatch, tmp_path):
    folder = tmp_path / "users"
    folder.mkdir()
    monkeypatch.setattr(count, "open_parts", partial(open_parts, n_rows=700))
    given = TableOptions.of(users=stored["users"], by=BY, metrics="auc")
    with counted_in_parts(
        stored["predictions"], given, LocalExecutor(1), {}, lambda *told: None, per_user=folder
    ):
        pass
    found = pl.read_parquet(folder / "*.parquet").sort("user_id")
    whole = fairrec.audit(**stored, by=BY, metrics="auc", permutations=0).per_user
    assert len([*folder.iterdir()]) > 2
    assert_frame_equal(found, whole.sort("user_id"))


def test_own_metrics_are_not_known_to_workers_elsewhere(stored):
    @fairrec.metric("first_label")
    def first_label(lists):
        """Label of the first item."""
        return lists.labels(1)[:, 0]

    class Elsewhere:
        threads = 1

    given = TableOptions.of(users=stored["users"], by=BY, metrics="first_label")
    try:
        with (
            pytest.raises(InputError, match="'first_label' is your own"),
            counted_in_parts(stored["predictions"], given, Elsewhere(), {}, lambda *told: None),
        ):
            pass
    finally:
        METRICS.remove("first_label")


def test_metrics_that_are_no_mean_over_users_are_refused_in_parts_too(stored, monkeypatch):
    with pytest.raises(InputError, match="pooled_auc is no mean over users"):
        counted(stored, monkeypatch, 1000, metrics="auc,pooled_auc")
