"""What all data sets share: the registry, Parquet tables as input, deciles, and the bundle."""

from __future__ import annotations

import json
import subprocess
import sys

import polars as pl
import pytest

from fairrec.core.errors import InputError, OutputError, UnknownNameError
from fairrec.datasets import DATASETS
from fairrec.datasets.bundle import read_bundle, write_bundle
from fairrec.datasets.deciles import behaviour_deciles, decile
from fairrec.datasets.prepare import prepare
from tests.datasets.raw_files import prepared, refusal, write

PARQUET = {
    "interactions": {
        "user_id": [1, 1, 2],
        "item_id": [10, 20, 10],
        "rating": [5, 3, 4],
        "timestamp": [978300760, None, 978300800],
    },
    "users": {"user_id": [1, 2], "gender": ["F", "M"], "age": [1, 56], "occupation": [10, 16]},
    "items": {"item_id": [10, 20], "title": ["Heat", "Up"], "genres": ["Crime|Drama", ""]},
}


@pytest.fixture
def raw(tmp_path):
    folder = tmp_path / "raw"
    folder.mkdir()
    for name, columns in PARQUET.items():
        pl.DataFrame(columns).write_parquet(folder / f"{name}.parquet")
    return folder


def test_all_data_sets_are_registered_with_what_a_user_must_know():
    groups = {name: DATASETS[name].n_groups.split()[0] for name in DATASETS}
    assert groups == {
        "amazon-electronics": "1,000",
        "blackfriday": "8,820",
        "lfm360k": "53,058",
        "movielens-1m": "294",
        "movielens-100k": "2,562",
        "online-retail": "1,000",
    }
    for name in DATASETS:
        dataset = DATASETS[name]
        assert dataset.name == name
        assert "http" in dataset.where
        assert dataset.title and dataset.licence and dataset.files and dataset.attributes


def test_importing_data_sets_imports_no_torch():
    code = "import fairrec.datasets, fairrec.datasets.prepare, sys; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_parquet_tables_become_a_bundle(raw, tmp_path):
    bundle = prepared("movielens-1m", raw, tmp_path / "bundle")
    assert bundle.interactions.rows() == [
        (1, 10, True, 978300760, 5),
        (1, 20, False, None, 3),
        (2, 10, True, 978300800, 4),
    ]
    assert bundle.users.rows() == [(1, "F", 1, 10), (2, "M", 56, 16)]
    assert bundle.items.rows() == [(10, "Heat", ["Crime", "Drama"]), (20, "Up", [])]
    assert bundle.manifest.notes == ("ratings without a time: 1",)


@pytest.mark.parametrize(
    ("table", "change", "message"),
    [
        (
            "interactions",
            pl.col("rating").alias("stars"),
            "interactions.parquet: no column 'rating'. Columns here: user_id, item_id, timestamp, ",
        ),
        (
            "interactions",
            pl.lit("good").alias("rating"),
            "interactions.parquet: cannot be read as user_id, item_id, rating, timestamp (",
        ),
        (
            "interactions",
            pl.Series("rating", [5, None, None]),
            "interactions.parquet, row 2: rating None is missing (2 such rows).",
        ),
        (
            "interactions",
            pl.Series("user_id", [1, 1, 9]),
            "interactions.parquet, row 3: user_id 9 is not in users.parquet.",
        ),
        (
            "users",
            pl.lit(1).alias("user_id"),
            "users.parquet, row 2: user_id 1 appears more than once.",
        ),
    ],
)
def test_broken_parquet_tables_are_refused_by_row(raw, table, change, message):
    file = raw / f"{table}.parquet"
    changed = pl.read_parquet(file).with_columns(change)
    kept = changed.drop("rating") if "stars" in changed.columns else changed
    kept.write_parquet(file)
    assert refusal("movielens-1m", raw).startswith(message)


def test_a_file_that_is_not_parquet_is_refused(raw):
    (raw / "users.parquet").write_text("no table")
    assert refusal("movielens-1m", raw).startswith("users.parquet: cannot be read as user_id,")


def test_equal_values_share_a_decile():
    values = pl.DataFrame({"value": [1, 9, 1, 5]})
    # smaller values: 0, 3, 0 and 2 of 4
    expected = [10 * 0 // 4, 10 * 3 // 4, 10 * 0 // 4, 10 * 2 // 4]
    assert values.select(decile("value"))["value"].to_list() == expected


def test_ten_different_values_fill_ten_deciles():
    values = pl.DataFrame({"value": [3.5 * number for number in range(10)]})
    assert values.select(decile("value"))["value"].to_list() == list(range(10))


def test_behaviour_is_measured_on_training_interactions_only():
    rows = [
        # the last two of u1, the dearest, are targets
        *[("u1", 1, 5.0, 10.0), ("u1", 2, 1.0, 1.0), ("u1", 3, 99.0, 99.0), ("u1", 4, 99.0, 99.0)],
        # two interactions: the last is a target
        *[("u2", 1, 7.0, 7.0), ("u2", 2, 99.0, 99.0)],
        ("u3", 1, 2.0, 2.0),
    ]
    interactions = pl.DataFrame(
        {"user_id": [row[0] for row in rows], "time": [row[1] for row in rows]}
        | {"price": [row[2] for row in rows], "amount": [row[3] for row in rows]}
    )
    # activity 2, 1, 1; spend 11, 7, 2; top price 5, 7, 2
    assert behaviour_deciles(interactions, amount="amount").rows() == [
        ("u1", 10 * 2 // 3, 10 * 2 // 3, 10 * 1 // 3),
        ("u2", 0, 10 * 1 // 3, 10 * 2 // 3),
        ("u3", 0, 0, 0),
    ]


def test_sums_of_decimals_that_are_equal_share_a_decile():
    interactions = pl.DataFrame(
        {
            "user_id": ["u1"] * 4 + ["u2"] * 3,
            "time": [1, 2, 3, 4, 1, 2, 3],
            "price": [0.1, 0.2, 1.0, 1.0, 0.3, 1.0, 1.0],
        }
    )
    assert 0.1 + 0.2 != 0.3
    assert behaviour_deciles(interactions, amount="price")["spend"].to_list() == [0, 0]


def test_a_bundle_written_again_is_the_same(raw, tmp_path):
    bundle = prepared("movielens-1m", raw, tmp_path / "bundle")
    manifest = write_bundle(bundle, tmp_path / "again")
    again = read_bundle(tmp_path / "again")
    assert again.manifest == manifest == bundle.manifest
    assert again.interactions.equals(bundle.interactions)
    assert again.users.equals(bundle.users)
    assert again.items.equals(bundle.items)


@pytest.mark.parametrize("table", ["interactions", "users", "items"])
def test_a_changed_table_is_refused(raw, tmp_path, table):
    prepare("movielens-1m", raw, tmp_path / "bundle")
    file = tmp_path / "bundle" / f"{table}.parquet"
    pl.read_parquet(file).head(1).write_parquet(file)
    with pytest.raises(InputError, match=rf"{table}\.parquet: is missing or not what was prepared"):
        read_bundle(tmp_path / "bundle")


def test_a_changed_manifest_is_refused(raw, tmp_path):
    prepare("movielens-1m", raw, tmp_path / "bundle")
    file = tmp_path / "bundle" / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "surprise": 1}))
    with pytest.raises(InputError, match=r"manifest\.json: is no manifest of this version"):
        read_bundle(tmp_path / "bundle")


def test_the_folder_that_is_read_is_never_written(raw):
    before = (raw / "users.parquet").read_bytes()
    with pytest.raises(InputError, match="is the folder that is read"):
        prepare("movielens-1m", raw, raw)
    assert (raw / "users.parquet").read_bytes() == before


def test_a_raw_folder_that_does_not_exist_is_refused(tmp_path):
    assert "is no folder" in refusal("movielens-1m", tmp_path / "nowhere")


def test_an_unknown_name_is_refused_with_the_nearest(tmp_path):
    with pytest.raises(UnknownNameError, match="Did you mean 'movielens-1m'"):
        prepare("movielens1m", tmp_path, tmp_path / "bundle")


def test_an_output_that_is_a_file_is_refused_before_reading(raw, tmp_path):
    write(tmp_path, "bundle", "")
    with pytest.raises(OutputError, match="is a file, not a folder"):
        prepare("movielens-1m", raw, tmp_path / "bundle")


def test_progress_ends_with_writing(raw, tmp_path):
    stages = []
    prepare(
        "movielens-1m", raw, tmp_path / "bundle", lambda stage, done, total: stages.append(stage)
    )
    assert stages[-1] == "writing"
