"""The named part about the whole catalogue."""

from __future__ import annotations

import math

from fairrec.result.catalogue_schema import catalogue_part
from fairrec.statistics.catalogue import Representation, SpreadOver


def test_what_is_not_known_is_null():
    found = SpreadOver(5, 10, 20, 4, 0.5, None, (Representation("kind", math.nan, None),))
    part = catalogue_part(found)
    assert part.expected_exposure_loss is None
    assert part.representation["kind"].to_catalogue is None
    assert (part.n_shown, part.n_items, part.gini) == (4, 20, 0.5)
