from __future__ import annotations

import subprocess
import sys

import pytest

from fairrec.core.errors import InputError, UnknownNameError
from fairrec.core.registry import Registry


def test_a_name_is_taken_once_and_given_back_when_removed():
    colours = Registry[int]("colour")
    colours.add("red", 1)
    with pytest.raises(InputError, match="The colour 'red' is registered already"):
        colours.add("red", 2)
    colours.remove("red")
    colours.add("red", 2)
    assert (colours["red"], [*colours], "blue" in colours) == (2, ["red"], False)


def test_an_unknown_name_offers_the_nearest():
    colours = Registry[int]("colour")
    colours.add("red", 1)
    with pytest.raises(UnknownNameError, match=r"No colour 'rde'. Did you mean 'red'"):
        colours["rde"]


def test_what_registers_the_entries_is_loaded_when_they_are_asked_for():
    # in a process where nothing else has loaded them
    code = (
        "import sys\n"
        "from fairrec.search.searcher import SEARCHERS\n"
        "assert 'fairrec.search.searchers' not in sys.modules\n"
        "assert 'adaptive' in SEARCHERS and 'fairrec.search.searchers' in sys.modules\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
