"""The names of the deep models, and what they need."""

from __future__ import annotations

from importlib.util import find_spec

from fairrec.core.errors import InputError

DEEP_MODELS = ("wide_deep", "deepfm", "dcn", "fgcnn")


def need_torch(*more: str) -> None:
    """Say how to install what deep models need, where it is not there."""
    for package in ("torch", "safetensors", *more):
        if find_spec(package) is None:
            raise InputError(f"Deep models need {package}: pip install 'fairrec[paper]'")
