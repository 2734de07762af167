"""The named part about the whole catalogue."""

from __future__ import annotations

import math

import numpy as np

from fairrec.inputs.users import Attribute
from fairrec.result.schema import MOST_VALUES, CatalogueExposure, catalogue_part
from fairrec.statistics.inequality import Represented, SpreadOver


def part_of(n_items: list[int], n_shown: list[int]) -> CatalogueExposure:
    kind = Attribute("kind", np.zeros(0, dtype=np.int32), tuple(range(len(n_items))))
    of_kind = Represented(kind, math.nan, None, np.array(n_items), np.array(n_shown))
    return catalogue_part(SpreadOver(5, 10, 20, 4, 0.5, None, (of_kind,)))


def test_values_of_most_items_are_told_in_their_order():
    n = [*range(1, MOST_VALUES + 3)]
    shown = part_of([*n, 0], [*n, 0]).representation["kind"].shown
    assert [*shown] == [str(at) for at in range(2, MOST_VALUES + 2)]
    assert (shown["2"].n_items, shown["2"].n_shown) == (3, 3)


def test_what_is_not_known_is_null():
    part = part_of([16, 4], [3, 1])
    assert part.expected_exposure_loss is None
    assert part.representation["kind"].to_catalogue is None
    assert (part.n_shown, part.n_items, part.gini) == (4, 20, 0.5)
