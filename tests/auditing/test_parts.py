"""test_parts"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import fairrec
from fairrec import Engine
from fairrec.auditing import audit, count
from fairrec.auditing.audit import is_of_everyone, refuse_engine
from fairrec.auditing.count import count_in_parts
from fairrec.core.errors import InputError, OutputError
from fairrec.counts.executor import LocalExecutor
from fairrec.inputs.partition import open_parts
from fairrec.inputs.table_options import TableOptions
from fairrec.metrics import METRICS
from fairrec.scoring.endpoint import Endpoint
from fairrec.search.options import Search
from tests.auditing.test_audit_counts import differences
from tests.counts.small_counts import BY, tables, values
from tests.grouped_options import group_options


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
    found = fairrec.audit(**group_options(**in_parts))
    monkeypatch.undo()
    whole = fairrec.audit(**group_options(**in_parts))
    mine, its = json.loads(whole.to_json()), json.loads(found.to_json())
    (note,) = [one for one in its["warnings"] if "were not looked at unasked" in one]
    its["warnings"].remove(note)
    assert sorted(its.pop("warnings")) == sorted(mine.pop("warnings"))
    assert differences(mine, its) == []
    assert its["inputs"].keys() == {"predictions", "users"}


def test_its_users_are_saved_and_loaded(in_parts, tmp_path):
    result = fairrec.audit(**group_options(**in_parts))
    assert result.per_user is None
    result.save(tmp_path / "audit")
    loaded = fairrec.load(tmp_path / "audit")
    assert loaded.per_user.height == loaded.summary.n_users == 580
    assert not loaded.summary.is_aggregates_only
    result.save(tmp_path / "shared", aggregates_only=True)
    assert not (tmp_path / "shared" / "per_user.parquet").exists()
    assert isinstance(result.per_user_parts, pl.LazyFrame)


def test_bins_by_quantiles_are_those_of_the_whole(in_parts, monkeypatch):
    in_parts["by"] = "gender,age:q4"
    found = fairrec.audit(**group_options(**in_parts))
    monkeypatch.undo()
    whole = fairrec.audit(**group_options(**in_parts))
    mine, its = json.loads(whole.to_json()), json.loads(found.to_json())
    assert differences(mine["attributes"], its["attributes"]) == []
    assert differences(mine["metrics"], its["metrics"]) == []


def test_values_that_nobody_can_cut_are_read_whole(tmp_path, monkeypatch):
    given = values()
    given["values"].write_parquet(tmp_path / "values.parquet")
    given["values"] = tmp_path / "values.parquet"
    whole = fairrec.audit(**group_options(**given, permutations=100))
    monkeypatch.setattr(count, "open_parts", partial(open_parts, n_rows=300))
    monkeypatch.setattr(audit, "is_large", lambda *_: True)
    found = fairrec.audit(**group_options(**given, permutations=100))
    mine, its = json.loads(whole.to_json()), json.loads(found.to_json())
    assert differences(mine, its) == []


def test_nothing_is_left_on_the_disk_after_an_error(in_parts, tmp_path):
    (tmp_path / "scratch").mkdir()
    pl.read_parquet(in_parts["users"])[50:].write_parquet(in_parts["users"])
    with pytest.raises(InputError, match="not in"):
        fairrec.audit(**group_options(**in_parts, scratch=tmp_path / "scratch"))
    assert [*(tmp_path / "scratch").iterdir()] == []
    with pytest.raises(OutputError, match="more room for scratch files"):
        fairrec.audit(**group_options(**in_parts, scratch=tmp_path / "none"))


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
    whole = fairrec.audit(**group_options(**given))
    monkeypatch.setattr(count, "open_parts", partial(open_parts, n_rows=20))
    monkeypatch.setattr(audit, "is_large", lambda *_: True)
    found = fairrec.audit(**group_options(**given))
    repeat = "test.parquet: 30 of 80 held-out rows repeat a user and item; such a pair counts once"
    unknown = "40 users of test.parquet are not in users.parquet and are left out"
    assert found.warnings[:2] == (unknown, repeat)
    assert len(found.warnings) == len(whole.warnings) + 1
    assert found.warnings[1:-1] == whole.warnings[1:]


EXACT = Search("exact")


ENDPOINT = object.__new__(Endpoint)


def test_everyone_is_scored_by_a_table_or_a_model_that_costs_nothing():
    assert is_of_everyone(None, None)
    assert is_of_everyone(EXACT, len)
    assert not is_of_everyone(EXACT, None)
    assert not is_of_everyone(EXACT, ENDPOINT)
    assert not is_of_everyone(Search("adaptive"), len)


def test_workers_are_refused_where_they_have_nothing_to_do():
    refuse_engine(EXACT, len)
    with pytest.raises(InputError, match="A search scores few users"):
        refuse_engine(Search("adaptive"), len)
    with pytest.raises(InputError, match="An endpoint is asked by one process"):
        refuse_engine(EXACT, ENDPOINT)
    with pytest.raises(InputError, match="Two lists of each user"):
        refuse_engine(EXACT, len, "other.parquet")


def test_tables_that_would_not_fit_are_refused_before_they_are_read(tmp_path, monkeypatch):
    users = pl.DataFrame({"user_id": range(9), "gender": ["F", "M", "X"] * 3})
    text = users.select("user_id", watched=pl.col("user_id") / 9).write_csv()
    values = tmp_path / "values.csv"
    values.write_text(text)
    monkeypatch.setattr("fairrec.inputs.partition.PER_BYTE_OF_TEXT", 3 * 10**8 // len(text))
    asked = {"values": values, "users": users, "by": "gender"}
    fairrec.count(**group_options(**asked, max_memory="0.6GB"))
    with pytest.raises(InputError, match=r"values.csv, read at once, need about 0.6 GB of memory"):
        fairrec.count(**group_options(**asked, max_memory="0.5GB"))


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
    engine = Engine(progress=lambda *told: said.append(told))
    counts, parts = count_in_parts(
        stored["predictions"], TableOptions(**given), engine, LocalExecutor(workers)
    )
    return counts, len(parts), said


@pytest.mark.parametrize("n_rows", [8, 100, 1000, 100_000])
def test_parts_of_any_size_give_the_counts_of_the_whole(tmp_path, monkeypatch, n_rows):
    # so few that each can be a part
    stored = in_files(tmp_path, n_users=160)
    counts, n_parts, _ = counted(stored, monkeypatch, n_rows)
    assert n_parts >= 140 * 8 / max(n_rows, 8) / 1.5
    whole = fairrec.count(**group_options(**stored, by=BY, metrics="auc,ndcg@5,mrr@8"))
    assert_frame_equal(counts.rows, whole.rows, rel_tol=1e-12)
    assert counts.info == whole.info


def test_the_number_of_workers_changes_no_bit(stored, monkeypatch):
    one, _, _ = counted(stored, monkeypatch, 300)
    three, _, _ = counted(stored, monkeypatch, 300, workers=3)
    assert one.rows.equals(three.rows)


def test_scattered_rows_are_counted_too(stored, monkeypatch):
    expected, _, _ = counted(stored, monkeypatch, 1000)
    table = pl.read_parquet(stored["predictions"])
    table.sample(fraction=1, shuffle=True, seed=1).write_parquet(stored["predictions"])
    found, _, _ = counted(stored, monkeypatch, 1000)
    assert_frame_equal(found.rows, expected.rows, rel_tol=1e-12)


def test_values_of_users_are_written_part_by_part(stored, monkeypatch, tmp_path):
    folder = tmp_path / "users"
    folder.mkdir()
    monkeypatch.setattr(count, "open_parts", partial(open_parts, n_rows=700))
    given = TableOptions(users=stored["users"], by=BY, metrics="auc")
    count_in_parts(stored["predictions"], given, Engine(), LocalExecutor(1), per_user=folder)
    found = pl.read_parquet(folder / "*.parquet").sort("user_id")
    whole = fairrec.audit(**group_options(**stored, by=BY, metrics="auc", permutations=0)).per_user
    assert len([*folder.iterdir()]) > 2
    assert_frame_equal(found, whole.sort("user_id"))


def test_own_metrics_are_not_known_to_workers_elsewhere(stored):
    @fairrec.metric("first_label")
    def first_label(lists):
        """Label of the first item."""
        return lists.labels(1)[:, 0]

    class Elsewhere:
        threads = 1

    given = TableOptions(users=stored["users"], by=BY, metrics="first_label")
    try:
        with pytest.raises(InputError, match="'first_label' is your own"):
            count_in_parts(stored["predictions"], given, Engine(), Elsewhere())
    finally:
        METRICS.remove("first_label")


def test_nothing_is_left_on_the_disk_after_an_error_in_the_analysis(in_parts, tmp_path):
    (tmp_path / "scratch").mkdir()
    with pytest.raises(InputError, match="No group has 10,000 users"):
        fairrec.audit(**group_options(**in_parts, scratch=tmp_path / "scratch", min_support=10_000))
    assert [*(tmp_path / "scratch").iterdir()] == []


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"score": pl.lit(0.5)}, "'score' is the same for all items of each user"),
        ({"score": pl.int_range(pl.len()).over("user_id") + 1}, "'score' counts up in every"),
        ({"label": pl.int_range(pl.len()) % 5 + 1}, "'label' runs from 1 to 5 and is never 0"),
    ],
    ids=["equal scores", "ranks", "ratings"],
)
def test_what_is_wrong_with_all_rows_is_refused_after_all_parts(in_parts, changed, told):
    file, in_parts["metrics"] = in_parts["predictions"], "mrr@8"
    whole = pl.read_parquet(file)
    whole.with_columns(**changed).write_parquet(file)
    with pytest.raises(InputError, match=told):
        fairrec.audit(**group_options(**in_parts))
    # the user of one part shows that not all are so
    is_other = pl.col("user_id") != whole["user_id"][0]
    mixed = {name: pl.when(is_other).then(one).otherwise(name) for name, one in changed.items()}
    whole.with_columns(**mixed).write_parquet(file)
    fairrec.audit(**group_options(**in_parts))


def test_held_out_items_of_no_list_are_refused_after_all_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(count, "open_parts", partial(open_parts, n_rows=30))
    monkeypatch.setattr(audit, "is_large", lambda *_: True)
    users = pl.DataFrame({"user_id": range(60), "gender": ["F", "M"] * 30})
    lists = users.select("user_id").join(
        pl.DataFrame({"item_id": [1, 2], "score": [0.9, 0.1]}), how="cross"
    )
    test = users.select("user_id", item_id=pl.when(pl.col("user_id") == 7).then(1).otherwise(9))
    given = {"by": "gender", "min_support": 2}
    for name, table in {"users": users, "predictions": lists, "test": test}.items():
        given[name] = tmp_path / f"{name}.parquet"
        table.write_parquet(given[name])
    options = group_options(**given, permutations=0)
    fairrec.audit(**options)
    with pytest.raises(InputError, match="no row meets"):
        fairrec.audit(**options, tables=fairrec.Tables(relevant="item_id>9"))
    test.with_columns(item_id=9).write_parquet(given["test"])
    with pytest.raises(InputError, match="none of its items is ever recommended"):
        fairrec.audit(**options)
