from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fairrec.cli.load_metrics import load_metrics
from fairrec.core.errors import InputError
from fairrec.metrics import METRICS

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


def test_a_file_that_fails_leaves_no_module_behind(tmp_path: Path):
    file = tmp_path / "broken.py"
    file.write_text("raise LookupError('nowhere')")
    with pytest.raises(InputError, match=r"load=.*: LookupError: nowhere. Give a Python"):
        load_metrics(str(file))
    assert str(file) not in sys.modules


def test_a_module_that_is_not_there_is_refused_by_name():
    with pytest.raises(InputError, match="No module named 'no_such_module'"):
        load_metrics("no_such_module")
