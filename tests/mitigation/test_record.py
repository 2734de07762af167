"""A re-ranker in a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fairrec.core.errors import InputError
from fairrec.mitigation.result import load_reranker
from tests.mitigation.planted import mitigate, planted

RECORD = mitigate(planted("diversity", n_users=48), "urd@5", strength=0.6).reranker


def record_text(**changes) -> str:
    return json.dumps({**json.loads(RECORD.model_dump_json()), **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"schema_version": "2"},
        {"strength": 1.5},
        {"strength": "much"},
        {"k": 0},
        {"groups": "all"},
        {"groups": [{"gender": ["F"]}]},
        {"metric": None},
        {"surprise": 1},
    ],
    ids=str,
)
def test_record_of_another_kind_is_refused(tmp_path, changes):
    path = tmp_path / "reranker.json"
    path.write_text(record_text(**changes), encoding="utf-8")
    with pytest.raises(InputError, match=r"reranker.json: is no re-ranker of this version"):
        load_reranker(path)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "\x00"])
def test_damaged_record_is_refused(tmp_path, text):
    path = tmp_path / "reranker.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"reranker.json: is no re-ranker of this version"):
        load_reranker(path)


def test_record_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "reranker.json"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=r"reranker.json: is no re-ranker of this version"):
        load_reranker(path)


def test_record_that_is_not_there_is_refused(tmp_path):
    for path in (tmp_path / "reranker.json", tmp_path):
        with pytest.raises(InputError, match=r"cannot be read .*Give the reranker.json that"):
            load_reranker(path)


def test_record_names_no_file_of_this_machine():
    assert str(Path.cwd()) not in record_text()
