from __future__ import annotations

import numpy as np
import pytest

from fairrec.core.errors import UnknownNameError
from fairrec_paper.datasets.synthetic import SHAPES, shaped_like, synthetic_bundle


@pytest.mark.parametrize(
    ("shape", "n_groups"),
    [
        ("movielens-1m", 294),
        ("lfm360k", 53_058),
        ("blackfriday", 8_820),
        ("amazon-electronics", 1_000),
    ],
)
def test_shapes_have_the_published_number_of_groups(shape, n_groups):
    sizes = [len(values) for values in SHAPES[shape].attributes.values()]
    assert np.prod(sizes) == n_groups
    small = synthetic_bundle(shaped_like(shape, n_users=500, n_items=400))
    assert small.users.height == 500
    assert small.manifest.name == f"synthetic {shape}"


def test_a_shape_that_is_not_there_is_refused():
    with pytest.raises(UnknownNameError, match="Did you mean 'lfm360k'"):
        shaped_like("lfm360")
