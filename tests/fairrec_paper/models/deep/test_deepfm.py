from __future__ import annotations

import pytest

from tests.fairrec_paper.models.deep.slow_models import check_forward_pass


@pytest.mark.parametrize("with_categories", [True, False])
def test_the_forward_pass_equals_plain_numpy(with_categories):
    check_forward_pass("deepfm", with_categories)
