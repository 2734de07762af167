"""The deep models by name."""

from __future__ import annotations

from fairrec.models.base import CTRModel
from fairrec.models.dcn import DCN
from fairrec.models.deepfm import DeepFM
from fairrec.models.fgcnn import FGCNN
from fairrec.models.wide_deep import WideDeep
from fairrec.registry import Registry

MODELS: Registry[type[CTRModel]] = Registry("model")
for model in (WideDeep, DeepFM, DCN, FGCNN):
    MODELS.add(model.name, model)
