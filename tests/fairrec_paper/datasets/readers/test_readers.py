"""Every reader is listed, or its data set would be unknown."""

from __future__ import annotations

import re
from pathlib import Path

from fairrec_paper.datasets import readers


def test_every_file_that_adds_a_data_set_is_loaded_with_the_registry():
    adds = re.compile(r"^DATASETS\.add\(", re.MULTILINE)
    files = Path(readers.__file__).parent.glob("*.py")
    readers_there = {file.stem for file in files if adds.search(file.read_text("utf-8"))}
    assert readers_there == {*readers.__all__}
    assert readers_there
