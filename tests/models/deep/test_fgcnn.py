from __future__ import annotations

import pytest

from fairrec.core.errors import FairRecError
from fairrec.models.runs.checkpoint import build_model
from tests.models.deep.slow_models import check_forward_pass
from tests.models.deep.small_models import tables


@pytest.mark.parametrize("with_categories", [True, False])
def test_the_forward_pass_equals_plain_numpy(with_categories):
    check_forward_pass("fgcnn", with_categories)


@pytest.mark.parametrize("hyper", [{"width": 2}, {"filters": 8}])
def test_impossible_hyper_parameters_are_refused(hyper):
    with pytest.raises(FairRecError, match=r"invalid hyper-parameter.*: expected .*, got "):
        build_model("fgcnn", hyper, tables())
