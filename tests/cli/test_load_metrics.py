from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fairrec.auditing.settings import load_metrics
from fairrec.core.errors import InputError
from fairrec.metrics import METRICS
from tests.end_to_end.command_line import AUDIT, run_here, write_tables

OWN = """
from __future__ import annotations
from dataclasses import dataclass
import fairrec

@dataclass(frozen=True)
class Weight:
    of_first: float = 1.0

@fairrec.metric("{name}")
def own(lists):
    "The first label, weighted."
    return Weight().of_first * lists.labels(1)[:, 0]
"""


def test_a_file_may_have_dataclasses_whose_annotations_are_text(tmp_path: Path):
    file = tmp_path / "json.py"
    file.write_text(OWN.format(name="weighted"))
    before = sys.modules.get("json")
    try:
        load_metrics(str(file))
        assert METRICS["weighted"].definition == "The first label, weighted."
        # a file takes the place of no module of its name
        assert sys.modules.get("json") is before
    finally:
        METRICS.remove("weighted")


def test_the_path_of_a_file_may_have_a_comma(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    write_tables(tmp_path)
    (tmp_path / "we,ird").mkdir()
    files = ["we,ird/one.py", "we,ird/other.py"]
    for name, file in zip(("one_own", "other_own"), files, strict=True):
        (tmp_path / file).write_text(OWN.format(name=name))
    loads = [part for file in files for part in ("--load", file)]
    try:
        ran = run_here(*AUDIT, "--by", "member", "--metrics", "one_own,other_own", *loads)
        assert (ran.code, ran.stderr) == (0, "")
    finally:
        METRICS.remove("one_own")
        METRICS.remove("other_own")


def test_a_file_that_fails_leaves_no_module_behind(tmp_path: Path):
    file = tmp_path / "broken.py"
    file.write_text("raise LookupError('nowhere')")
    with pytest.raises(InputError, match=r"load=.*: LookupError: nowhere. Give a Python"):
        load_metrics(str(file))
    assert str(file) not in sys.modules


def test_a_module_that_is_not_there_is_refused_by_name():
    with pytest.raises(InputError, match="No module named 'no_such_module'"):
        load_metrics("no_such_module")


@pytest.mark.parametrize("code", ["", "0", "1", "'enough'"])
def test_a_file_that_ends_the_program_is_refused(code, tmp_path: Path):
    file = tmp_path / "ends.py"
    file.write_text(f"raise SystemExit({code})")
    with pytest.raises(InputError, match=r"load=.*: SystemExit: .*Give a Python"):
        load_metrics(str(file))


def test_a_file_that_is_interrupted_ends_the_program(tmp_path: Path):
    file = tmp_path / "long.py"
    file.write_text("raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        load_metrics(str(file))


def test_what_a_terminal_would_act_on_is_escaped(tmp_path: Path):
    file = tmp_path / "colour.py"
    file.write_text(
        r"raise type('Red\x1b[31m', (Exception,), {})('two\nlines \x1b[2J' + 'x' * 9999)"
    )
    with pytest.raises(InputError) as caught:
        load_metrics(str(file))
    text = str(caught.value)
    assert r": Red\x1b[31m: two\nlines \x1b[2Jxxx" in text
    assert text.isprintable() and len(text) < 1000


def test_the_error_of_a_file_that_forgets_itself_is_shown(tmp_path: Path):
    file = tmp_path / "forgets.py"
    file.write_text("import sys\ndel sys.modules[__name__]\nraise LookupError('nowhere')")
    with pytest.raises(InputError, match="LookupError: nowhere"):
        load_metrics(str(file))


def test_a_module_may_change_the_search_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "changes_the_path.py").write_text("import sys\nsys.path.remove('')\nDONE = True")
    try:
        load_metrics("changes_the_path")
        assert sys.modules["changes_the_path"].DONE
    finally:
        sys.modules.pop("changes_the_path", None)
