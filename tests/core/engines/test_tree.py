from __future__ import annotations

import math

import pytest

from fairrec.core.engines.tree import Tree


def total_of(values, add=lambda left, right: left + right):
    tree = Tree(add)
    for value in values:
        tree.push(value)
    return tree.total()


@pytest.mark.parametrize("n_values", range(1, 40))
def test_every_value_is_added_once_and_in_order(n_values):
    values = [[number] for number in range(n_values)]
    assert total_of(values) == [*range(n_values)]


def test_the_shape_is_that_of_a_binary_counter():
    assert total_of("abcdefg", lambda left, right: f"({left}{right})") == "(((ab)(cd))((ef)g))"


def test_few_sums_are_kept():
    tree = Tree(lambda left, right: left + right)
    for number in range(1000):
        tree.push(1)
        assert len(tree._sums) <= math.log2(number + 1) + 1
    assert tree.total() == 1000


def test_there_must_be_something_to_add():
    with pytest.raises(ValueError, match="nothing"):
        total_of([])
