from __future__ import annotations

import pytest
import torch

from fairrec.core.errors import FairRecError
from fairrec_paper.models.run import build_model
from tests.fairrec_paper.models.deep.small_models import model_of, tables


def test_categories_are_one_mean_embedding_and_none_is_zero():
    model = model_of("wide_deep")
    fields = model.fields
    with torch.no_grad():
        fields.categories.weight[0] = 0
    codes = fields.item_categories[3]
    expected = fields.categories.weight[codes[codes > 0].long()].mean(dim=0)
    shown = fields(torch.tensor([0]), torch.tensor([3]))[0, -1]
    assert torch.allclose(shown, expected)


@pytest.mark.parametrize(
    "hyper", [{"embedding": 0}, {"embedding": 8.5}, {"dropout": 2.0}, {"layers": 0}]
)
def test_impossible_hyper_parameters_are_refused(hyper):
    with pytest.raises(FairRecError, match=r"invalid hyper-parameter.*: expected .*, got "):
        build_model("dcn", hyper, tables())


def test_one_layer_may_be_given_as_a_number():
    assert build_model("dcn", {"layers": 12}, tables()).hyper.layers == (12,)


def test_unknown_models_and_hyper_parameters_are_refused():
    with pytest.raises(FairRecError, match="Did you mean 'deepfm'"):
        build_model("deepmf", {}, tables())
    with pytest.raises(FairRecError, match="no hyper-parameter 'depth'"):
        build_model("dcn", {"depth": 3}, tables())
