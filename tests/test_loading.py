"""Saved results back in Python."""

from __future__ import annotations

import pytest

import fairrec
from fairrec.core.errors import InputError
from tests.builders import audit, two_groups
from tests.mitigation.planted import mitigate, planted


def test_a_saved_audit_is_the_same_again(tmp_path):
    result = audit(*two_groups(), by="group")
    again = fairrec.load(result.save(tmp_path / "audit"))
    assert isinstance(again, fairrec.AuditResult)
    assert again.summary == result.summary
    assert again.group_table.equals(result.group_table)
    assert again.per_user.equals(result.per_user)
    assert again.run.command == result.run.command
    # and what is saved again has the same bytes
    again.save(tmp_path / "copy")
    for name in ("result.json", "report.html"):
        kept, copied = ((tmp_path / place / name).read_bytes() for place in ("audit", "copy"))
        assert kept == copied


def test_a_saved_mitigation_is_the_same_again(tmp_path):
    result = mitigate(planted(), "ndcg@5")
    again = fairrec.load(result.save(tmp_path / "out", report=False))
    assert isinstance(again, fairrec.MitigationResult)
    assert again.summary == result.summary and again.reranker == result.reranker
    assert again.changes.equals(result.changes) and again.predictions.equals(result.predictions)
    assert again.audit.summary == result.audit.summary


def test_an_audit_may_come_without_users_and_without_its_run(tmp_path):
    result = audit(*two_groups(), by="group")
    folder = result.save(tmp_path / "out", report=False)
    for name in ("per_user.parquet", "run.json"):
        (folder / name).unlink()
    again = fairrec.load(folder)
    assert (again.per_user, again.run) == (None, None)
    again.save(tmp_path / "copy")
    assert sorted(file.name for file in (tmp_path / "copy").iterdir()) == [
        *("groups.parquet", "report.html", "result.json")
    ]


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda out: (out / "result.json").unlink(), "Is it an audit"),
        (lambda out: (out / "result.json").write_text("{"), "is no result of this version"),
        (lambda out: (out / "groups.parquet").unlink(), "Is it an audit"),
        (lambda out: (out / "groups.parquet").write_bytes(b"PAR1"), "cannot be read"),
        (lambda out: (out / "per_user.parquet").write_bytes(b""), "cannot be read"),
    ],
)
def test_half_an_audit_is_refused(tmp_path, spoil, says):
    folder = audit(*two_groups(), by="group").save(tmp_path / "out", report=False)
    spoil(folder)
    with pytest.raises(InputError, match=says):
        fairrec.load(folder)


def test_a_folder_that_is_none_is_said_to_be(tmp_path):
    with pytest.raises(InputError, match="is no folder"):
        fairrec.load(tmp_path / "nowhere")
