"""A comparison as a value and as files."""

from __future__ import annotations

import pytest

import fairrec
from fairrec.comparison.result import ComparisonSummary
from fairrec.core.errors import FairRecError, InputError, OutputError
from tests.compared_audits import audited, users_table


@pytest.fixture(scope="module")
def found():
    users = users_table()
    return fairrec.compare(
        audited(users, seed=1), audited(users, seed=2, worse={"plan=paid": 1.0}), tolerance=0.3
    )


def test_a_saved_comparison_is_the_same_again(found, tmp_path):
    folder = found.save(tmp_path / "out")
    assert sorted(file.name for file in folder.iterdir()) == [
        *("changes.parquet", "comparison.json", "report.html")
    ]
    again = fairrec.load(folder)
    assert isinstance(again, fairrec.Comparison)
    assert again.summary == found.summary
    assert again.changes.equals(found.changes)
    assert again.save(tmp_path / "copy") == tmp_path / "copy"
    for name in ("comparison.json", "report.html"):
        assert (tmp_path / "copy" / name).read_bytes() == (folder / name).read_bytes()
    assert ComparisonSummary.model_validate_json(found.to_json()) == found.summary


def test_groups_come_worst_first_for_one_metric_or_all(found):
    assert found.groups().columns[0] == "metric"
    assert found.groups("clicks")["outcome"][0] == "lost by more"
    with pytest.raises(FairRecError, match="No metric in this comparison 'click'"):
        found.groups("click")


def test_a_comparison_says_of_itself_what_it_found(found):
    assert repr(found).startswith("comparison of two audits by the same users, lost by more\n")
    assert f"of {found.changes.height} groups" in repr(found)
    assert "lost by more than 0.300" in found._repr_html_()


def test_folders_with_something_else_are_refused(found, tmp_path):
    audit = audited(users_table(60)).save(tmp_path / "audit", report=False)
    with pytest.raises(OutputError, match="holds an audit"):
        found.save(audit)
    with pytest.raises(InputError, match="holds a comparison and no audit"):
        fairrec.compare(found.save(tmp_path / "out", report=False), audit)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "report.html").write_text("mine")
    with pytest.raises(OutputError, match=r"report\.html there is of no result of FairRec"):
        found.save(tmp_path / "mine")
    assert (tmp_path / "mine" / "report.html").read_text() == "mine"


def test_what_is_insisted_on_is_replaced_as_a_whole(found, tmp_path):
    audit = audited(users_table(60)).save(tmp_path / "audit", report=False)
    found.save(audit, report=False, force=True)
    assert {file.name for file in audit.iterdir()} == {"changes.parquet", "comparison.json"}


def test_files_that_do_not_belong_together_are_refused(found, tmp_path):
    folder = found.save(tmp_path / "out", report=False)
    (folder / "changes.parquet").unlink()
    with pytest.raises(InputError, match="cannot be read"):
        fairrec.load(folder)
    (folder / "comparison.json").write_text("{}")
    with pytest.raises(InputError, match="is no comparison of this version"):
        fairrec.load(folder)
