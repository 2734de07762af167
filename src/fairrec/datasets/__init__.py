"""Data to audit: publishers' data sets in one form, and worlds made here."""

from typing import TYPE_CHECKING

from fairrec.core.lazy import loaded_on_use

if TYPE_CHECKING:
    from fairrec.datasets.readers import DATASETS

__all__ = ["DATASETS"]

__getattr__ = loaded_on_use(__name__, {"DATASETS": "fairrec.datasets.readers"})
