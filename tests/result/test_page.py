"""The page among the files of a result."""

from __future__ import annotations

import pytest

from fairrec.core.errors import OutputError
from tests.builders import audit, two_groups


def test_result_is_kept_when_its_page_fails(tmp_path, monkeypatch):
    def fail(*_, **options):
        raise ValueError("no page today")

    monkeypatch.setattr("fairrec.report.audit_result.page_html", fail)
    result = audit(*two_groups(), by="group", permutations=0)
    with pytest.raises(OutputError, match=r"the result is written.*no page today.*report=False"):
        result.save(tmp_path / "out")
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == [
        "groups.parquet",
        "per_user.parquet",
        "result.json",
        "run.json",
    ]


def test_page_of_an_earlier_audit_does_not_stay(tmp_path):
    result = audit(*two_groups(), by="group", permutations=0)
    result.save(tmp_path)
    assert (tmp_path / "report.html").exists()
    result.save(tmp_path, report=False)
    assert not (tmp_path / "report.html").exists()
