"""Whether nothing found in a metric is an all-clear."""

from __future__ import annotations

import numpy as np
import pytest

from fairrec import Engine
from fairrec.core.audit_options import AuditOptions
from fairrec.groups.grouping import Grouping
from fairrec.metrics.measured import measure_everyone
from fairrec.metrics.reading import read_inputs
from fairrec.statistics.missing import (
    Conclusiveness,
    analyse_missing,
    assess_conclusiveness,
    count_expected,
)
from tests.statistics.test_missing import labelled, users_of


def standing(has_relevant: np.ndarray, most: float, place: int = 1) -> tuple[Conclusiveness, ...]:
    inputs, wanted = read_inputs(
        labelled(has_relevant, place), users=users_of(len(has_relevant)), by="gender", metrics="mrr"
    )
    options = AuditOptions(permutations=199, min_support=2, engine=Engine(threads=1))
    measured = measure_everyone(inputs, wanted)
    grouping = Grouping.of(inputs.attributes, options)
    missing = analyse_missing(measured, inputs, grouping, options)
    return assess_conclusiveness(measured, count_expected(measured, inputs), missing, most)


@pytest.mark.parametrize(("most", "is_conclusive"), [(0.1, True), (0.0999, False)])
def test_up_to_the_share_that_may_have_no_value_a_metric_is_conclusive(most, is_conclusive):
    (one,) = standing(np.arange(40) >= 4, most)
    assert (one.undefined_share, one.is_conclusive) == (0.1, is_conclusive)


def test_a_group_that_differs_counts_by_its_own_share():
    # 20 of 200, all of one gender
    (one,) = standing(~((np.arange(200) % 2 == 0) & (np.arange(200) < 40)), 0.15)
    assert (one.undefined_share, one.is_conclusive) == (0.1, False)


def test_one_value_for_everyone_who_has_one_is_constant():
    (one,) = standing(np.arange(40) >= 4, 0.1)
    assert one.is_constant
