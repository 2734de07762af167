from __future__ import annotations

import json
from functools import partial

import polars as pl
import pytest

import fairrec
from fairrec.auditing import audit, count
from fairrec.core.errors import InputError, OutputError
from fairrec.inputs.parts.partition import open_parts
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
