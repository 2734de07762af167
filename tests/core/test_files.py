"""Reading files."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from fairrec.core.files import file_sum, is_json_with


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"version": 1, "name": 2, "more": 3}', True),
        ('{"version": 1}', False),
        ('["version", "name"]', False),
        ("{", False),
        ("[" * 100_000, False),
        (None, False),
    ],
)
def test_json_of_ours_is_known_by_its_names(tmp_path: Path, content: str | None, expected: bool):
    if content is not None:
        (tmp_path / "file").write_text(content)
    assert is_json_with(tmp_path / "file", "version", "name") is expected


def test_a_checksum_is_that_of_the_bytes(tmp_path: Path):
    (tmp_path / "file").write_bytes(b"abc" * 100_000)
    assert file_sum(tmp_path / "file") == hashlib.sha256(b"abc" * 100_000).hexdigest()
