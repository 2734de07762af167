from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fairrec.core.errors import FairRecError
from fairrec_paper.models.run import build_model
from tests.fairrec_paper.models.deep.slow_models import check_forward_pass
from tests.fairrec_paper.models.deep.small_models import tables


@pytest.mark.parametrize("with_categories", [True, False])
def test_the_forward_pass_equals_plain_numpy(with_categories):
    check_forward_pass("fgcnn", with_categories)


@pytest.mark.parametrize("hyper", [{"width": (3, 2)}, {"width": 4}, {"width": (5, 4), "linear": 1}])
def test_convolutions_of_even_width_look_further_ahead_than_back(hyper):
    check_forward_pass("fgcnn", True, **hyper)


@pytest.mark.parametrize("with_categories", [True, False])
def test_the_reference_leaves_out_fields_that_fill_no_pool(with_categories):
    hyper = {"width": (3, 2), "filters": (2, 1), "whole_pools": 1, "linear": 1}
    check_forward_pass("fgcnn", with_categories, **hyper)


def test_sizes_are_those_of_the_reference_with_its_six_fields():
    # two ids and four attributes, embedding 4: the shapes of its checkpoint
    six = replace(
        tables(False), user_sizes=(150, 3, 3, 3, 3), user_codes=np.zeros((150, 5), dtype=np.int32)
    )
    hyper = {"embedding": 4, "layers": (32,), "width": (3, 2), "filters": (2, 1), "whole_pools": 1}
    shapes = {name: [*w.shape] for name, w in build_model("fgcnn", hyper, six).named_parameters()}
    assert shapes["convolutions.1.weight"] == [1, 2, 2, 1]
    assert shapes["recombinations.0.weight"] == [24, 24]
    assert shapes["recombinations.1.weight"] == [8, 4]
    assert shapes["deep.0.weight"] == [32, 147]


@pytest.mark.parametrize(
    "hyper", [{"width": (3, 2, 3)}, {"filters": 8}, {"linear": 2}, {"pooling": 9, "whole_pools": 1}]
)
def test_impossible_hyper_parameters_are_refused(hyper):
    with pytest.raises(FairRecError, match=r"invalid hyper-parameter.*: expected .*, got "):
        build_model("fgcnn", hyper, tables())
