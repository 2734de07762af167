from __future__ import annotations

import pytest

from fairrec.core.errors import FairRecError
from fairrec_paper.models.run import build_model
from tests.fairrec_paper.models.deep.slow_models import check_forward_pass
from tests.fairrec_paper.models.deep.small_models import tables


@pytest.mark.parametrize("with_categories", [True, False])
def test_the_forward_pass_equals_plain_numpy(with_categories):
    check_forward_pass("dcn", with_categories)


def test_at_least_one_cross_layer_is_asked_for():
    with pytest.raises(FairRecError, match=r"invalid hyper-parameter.*: expected .*, got "):
        build_model("dcn", {"cross_layers": 0}, tables())


@pytest.mark.parametrize("with_categories", [True, False])
def test_a_first_order_part_can_stand_beside(with_categories):
    check_forward_pass("dcn", with_categories, linear=1)
