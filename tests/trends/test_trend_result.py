"""A trend in a folder, and back."""

from __future__ import annotations

import pytest

import fairrec
from fairrec.core.errors import InputError, OutputError
from tests.trends.trend_builders import six_releases


def test_a_saved_trend_is_the_same_again(tmp_path):
    result = fairrec.trend(six_releases())
    again = fairrec.load(result.save(tmp_path / "out"))
    assert isinstance(again, fairrec.TrendResult)
    assert again == result and again.worse == result.worse
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == [
        *("report.html", "trend.json")
    ]
    again.save(tmp_path / "copy", report=False)
    kept, copied = ((tmp_path / place / "trend.json").read_bytes() for place in ("out", "copy"))
    assert kept == copied and not (tmp_path / "copy" / "report.html").exists()


def test_a_trend_that_is_none_is_refused(tmp_path):
    (tmp_path / "trend.json").write_text('{"schema_version": "9"}')
    with pytest.raises(InputError, match="is no trend of this version"):
        fairrec.load(tmp_path)


def test_a_trend_does_not_replace_an_audit_unless_insisted_on(tmp_path):
    folder = six_releases()[0].save(tmp_path / "audit", report=False)
    found = fairrec.trend(six_releases()[:2])
    with pytest.raises(OutputError, match="holds an audit, which a trend would replace"):
        found.save(folder)
    found.save(folder, report=False, force=True)
    assert [file.name for file in folder.iterdir()] == ["trend.json"]


def test_the_page_can_be_shown_by_itself():
    file = fairrec.trend(six_releases()[:2]).show()
    assert file.read_text().startswith("<!DOCTYPE html>")
