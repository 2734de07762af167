from __future__ import annotations

from fairrec_paper.models.networks import MODELS
from fairrec_paper.models.options import DEEP_MODELS


def test_the_names_are_those_of_the_models():
    assert tuple(MODELS) == DEEP_MODELS
