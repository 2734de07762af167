from __future__ import annotations

import polars as pl
import pytest

import fairrec
from fairrec.core.errors import InputError
from tests.counts.small_counts import tables, values


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
