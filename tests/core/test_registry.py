from __future__ import annotations

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
