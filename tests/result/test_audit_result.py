"""The files of a result."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from fairrec.result.folder import load_groups, load_saved, load_summary
from tests.builders import audit, make_tables, two_groups


def assert_same(one, other) -> None:
    assert one.equals(other) if isinstance(one, pl.DataFrame) else one == other


def test_a_saved_result_is_written_whole_or_not_at_all(tmp_path: Path):
    (tmp_path / "report.html").mkdir()
    with pytest.raises(OSError, match="cannot be written"):
        audit(*two_groups(), by="group").save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_a_saved_result_is_read_again_and_other_files_stay(tmp_path: Path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").write_text("mine")
    result = audit(*two_groups(), by="group")
    for _ in range(2):
        result.save(tmp_path / "out")
        assert load_summary(tmp_path / "out") == result.summary
        assert load_groups(tmp_path / "out", load_saved(tmp_path / "out")[1]).equals(
            result.group_table
        )
        per_user = pl.read_parquet(tmp_path / "out" / "per_user.parquet")
        assert per_user.equals(result.per_user)
        assert sorted(file.name for file in (tmp_path / "out").iterdir()) == [
            *(
                "groups.parquet",
                "notes.txt",
                "per_user.parquet",
                "report.html",
                "result.json",
                "run.json",
            )
        ]


def test_repr_is_a_few_lines_of_plain_text():
    tables = make_tables()
    names = ["auc", *(f"mrr@{k}" for k in range(1, 13))]
    result = audit(tables.predictions, tables.users, "gender", metrics=names, title="a\x1b[31m\nb")
    first, *lines = repr(result).split("\n")
    assert first.startswith(r"a\x1b[31m\nb: audit of 48 users by gender")
    mean = result.metric("auc").mean
    assert lines[0] == f"  auc: mean {mean:.4g}, findings: 0 of 3 groups"
    untested = audit(tables.predictions, tables.users, "gender", metrics="auc", permutations=0)
    assert repr(untested).endswith(f"auc: mean {mean:.4g}, 3 groups, not tested")
    assert len(lines) == 11 and lines[-1] == "  and 3 more metrics"
    assert all(line.isprintable() for line in lines)
