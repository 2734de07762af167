from __future__ import annotations

import subprocess
import sys

import pytest

from fairrec.core.errors import InputError, UnknownNameError
from fairrec.core.registry import Registry


@pytest.fixture
def colours() -> Registry[int]:
    registry = Registry[int]("colour")
    registry.add("red", 1)
    registry.add("green", 2)
    return registry


def test_entries_are_found_by_name_in_the_order_they_were_added(colours):
    assert [*colours] == ["red", "green"]
    assert colours["green"] == 2
    assert "red" in colours
    assert "blue" not in colours


def test_a_name_is_taken_once(colours):
    with pytest.raises(InputError, match="The colour 'red' is registered already"):
        colours.add("red", 3)
    assert colours["red"] == 1


@pytest.mark.parametrize("look_up", [Registry.__getitem__, Registry.remove])
def test_an_unknown_name_is_explained(colours, look_up):
    with pytest.raises(UnknownNameError, match=r"No colour 'gren'\. Did you mean 'green'"):
        look_up(colours, "gren")


MINE = (
    "import sys\n"
    "from fairrec.mitigation.reranker import RERANKERS, default_reranker, reranker\n"
    "mine = reranker(sys.argv[1], 'mine', serves=('urd',))\n"
)


def in_a_new_process(code: str, *arguments: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-c", code, *arguments], check=False, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "first",
    ["", "import fairrec.mitigation.rerankers\n", "import fairrec.mitigation.rerankers.swap\n"],
)
def test_an_entry_of_ones_own_comes_after_those_of_the_home(first):
    code = MINE + "mine(type('Mine', (), {}))\nprint(default_reranker('urd'), *RERANKERS)"
    default, *names = in_a_new_process(first + code, "mine").split()
    assert (default, names[-1]) == ("mmr", "mine")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "module"),
    [
        ("fairrec.mitigation.reranker.RERANKERS", "fairrec.mitigation.rerankers.blends"),
        ("fairrec.search.searcher.SEARCHERS", "fairrec.search.searchers.listed"),
        (
            "fairrec_paper.datasets.bundle.DATASETS",
            "fairrec_paper.datasets.readers.movielens",
        ),
    ],
)
def test_the_order_is_the_same_whichever_module_is_loaded_first(table, module):
    home, _, name = table.rpartition(".")
    code = f"from {home} import {name}\nprint(*{name})"
    assert in_a_new_process(f"import {module}\n{code}") == in_a_new_process(code)
