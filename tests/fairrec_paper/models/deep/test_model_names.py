from __future__ import annotations

from fairrec_paper.models.deep.model_names import DEEP_MODELS
from fairrec_paper.models.deep.registry import MODELS


def test_the_names_are_those_of_the_models():
    assert tuple(MODELS) == DEEP_MODELS
