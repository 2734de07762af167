from __future__ import annotations

from fairrec.models.deep.model_names import DEEP_MODELS
from fairrec.models.deep.registry import MODELS


def test_the_names_are_those_of_the_models():
    assert tuple(MODELS) == DEEP_MODELS
