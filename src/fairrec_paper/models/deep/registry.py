"""The deep models by name."""

from __future__ import annotations

from fairrec.core.registry import Registry
from fairrec_paper.models.deep.base import CTRModel
from fairrec_paper.models.deep.dcn import DCN
from fairrec_paper.models.deep.deepfm import DeepFM
from fairrec_paper.models.deep.fgcnn import FGCNN
from fairrec_paper.models.deep.wide_deep import WideDeep

MODELS: Registry[type[CTRModel]] = Registry("model")
for model in (WideDeep, DeepFM, DCN, FGCNN):
    MODELS.add(model.name, model)
