from __future__ import annotations

import gzip

import pytest

from fairrec.core.errors import InputError
from fairrec_paper.datasets.raw_files import read_records
from tests.fairrec_paper.datasets.raw_files import write


def records(path):
    return [*read_records(path, lambda stage, done, total: None)]


def test_plain_compressed_and_python_lines_read_the_same(tmp_path):
    plain = write(tmp_path, "a.json", '{"user": "u1", "rating": 4.0}', "", "{'user': 'u2'}")
    packed = tmp_path / "a.json.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    for path in (plain, packed):
        first, second = records(path)
        assert (first.text("user"), first.number("rating")) == ("u1", 4.0)
        assert (second.text("user"), second.where) == ("u2", f"{path.name}, line 3")


def test_code_is_not_run(tmp_path):
    with pytest.raises(InputError, match=r"a\.json, line 1: .*is not a JSON record"):
        records(write(tmp_path, "a.json", "__import__('os').getcwd()"))


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"rating": "4"}', "rating '4' is not a number"),
        ('{"rating": true}', "rating True is not a number"),
        ('{"rating": NaN}', "rating nan is not a number"),
        ('{"rating": 1e300}', "is not a number"),
        ('{"stars": 4}', "no 'rating'; fields here: 'stars'"),
    ],
)
def test_what_is_no_number_is_refused(line, says, tmp_path):
    (record,) = records(write(tmp_path, "a.json", line))
    with pytest.raises(InputError, match=says):
        record.number("rating")


def test_a_file_that_breaks_off_is_refused(tmp_path):
    content = gzip.compress(b'{"user": "u1"}\n' * 2000)
    (tmp_path / "a.json.gz").write_bytes(content[: len(content) // 2])
    with pytest.raises(InputError, match="the compressed file breaks off or is damaged"):
        records(tmp_path / "a.json.gz")
