"""The deep models by name."""

from __future__ import annotations

from fairrec.core.registry import Registry
from fairrec.models.deep.base import CTRModel
from fairrec.models.deep.dcn import DCN
from fairrec.models.deep.deepfm import DeepFM
from fairrec.models.deep.fgcnn import FGCNN
from fairrec.models.deep.wide_deep import WideDeep

MODELS: Registry[type[CTRModel]] = Registry("model")
for model in (WideDeep, DeepFM, DCN, FGCNN):
    MODELS.add(model.name, model)
