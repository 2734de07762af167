from __future__ import annotations

from types import MappingProxyType

import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from fairrec.result.tables import as_pandas
from tests.builders import audit, one_each

OPTIONS = MappingProxyType({"metrics": "mrr,ndcg@2", "permutations": 99, "min_support": 2})
IDS = [f"u{i}" for i in range(60)]
TABLES = (
    one_each({user: (1, 2, 4)[i % 3] for i, user in enumerate(IDS)}),
    pl.DataFrame({"user_id": IDS, "group": ["a", "b", "c"] * 20, "place": ["north", "south"] * 30}),
)
RESULT = audit(*TABLES, by="group,place", **OPTIONS)


def test_findings_are_rows_of_the_table_of_groups_worst_first():
    found, groups = RESULT.findings(), RESULT.groups()
    assert found.columns == groups.columns
    named = [
        (name, {a: str(v) for a, v in finding.group.items()}, finding.p_adjusted, finding.value)
        for name, result in RESULT.metrics.items()
        for finding in result.findings
    ]
    assert len(named) >= 3
    assert named == [
        (row["metric"], {a: row[a] for a in ("group", "place") if row[a]}, row["p_adjusted"],
         row["value"])
        for row in found.iter_rows(named=True)
    ]  # fmt: skip
    assert_frame_equal(groups, RESULT.group_table)


def test_those_of_one_metric_do_not_repeat_its_name():
    for all_rows, rows in ((RESULT.findings(), RESULT.findings("ndcg")),
                           (RESULT.groups(), RESULT.groups("ndcg@2"))):  # fmt: skip
        assert_frame_equal(rows, all_rows.filter(metric="ndcg@2").drop("metric"))
        assert 0 < rows.height < all_rows.height


def test_no_findings_are_a_table_without_rows():
    none = audit(*TABLES, by="place", **OPTIONS)
    assert none.findings().height == 0
    assert none.findings().schema == none.groups().schema


@pytest.mark.parametrize("kind", ["pandas", "polars", "lazy", "pyarrow"])
def test_frames_go_out_as_they_came_in(kind):
    into = {
        "pandas": pl.DataFrame.to_pandas,
        "polars": lambda frame: frame,
        "lazy": pl.DataFrame.lazy,
        "pyarrow": pl.DataFrame.to_arrow,
    }
    result = audit(*map(into[kind], TABLES), by="group,place", **OPTIONS)
    wanted = pd.DataFrame if kind == "pandas" else pl.DataFrame
    for table in (result.findings(), result.groups(), result.findings("mrr"), result.groups("mrr")):
        assert type(table) is wanted
    found = result.findings()
    assert [*found["p_adjusted"]] == RESULT.findings()["p_adjusted"].to_list()


def test_the_first_table_in_memory_says_which_kind(tmp_path):
    predictions, users = TABLES
    predictions.write_parquet(tmp_path / "p.parquet")
    by_file = audit(tmp_path / "p.parquet", users.to_pandas(), by="group", **OPTIONS)
    assert type(by_file.groups()) is pd.DataFrame
    mixed = audit(predictions, users.to_pandas(), by="group", **OPTIONS)
    assert type(mixed.groups()) is pl.DataFrame


def test_a_frame_of_pandas_has_its_own_words_for_what_is_not_there():
    table = pl.DataFrame(
        {"a": ["x", None], "n": [1.5, None], "i": [1, 2], "b": [True, False]},
    )
    frame = as_pandas(table)
    assert [*frame["a"].isna()] == [*frame["n"].isna()] == [False, True]
    assert [frame[name].dtype.kind for name in "nib"] == ["f", "i", "b"]
