"""What is used for a data set of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fairrec_paper.datasets.bundle import Bundle, read_bundle

TITLES = {
    "movielens-1m": "MovieLens-1M",
    "lfm360k": "LFM360K",
    "blackfriday": "BlackFriday",
    "amazon-electronics": "Amazon",
}
"""The paper's data sets."""
STAND_INS = {
    "online-retail": ("amazon-electronics", "Online Retail in the place of Amazon"),
    "movielens-100k": ("movielens-1m", "MovieLens-100K in the place of MovieLens-1M"),
}
"""Data sets that can be had, by the paper's data set they are used for."""
SYNTHETIC = "synthetic "


@dataclass(frozen=True)
class DataSource:
    """What is used for a data set of the paper.

    Parameters
    ----------
    name : the paper's data set
    folder : a bundle
    key : short and different for different data, for the names of trained runs
    """

    name: str
    folder: Path
    key: str

    @cached_property
    def bundle(self) -> Bundle:
        """The tables."""
        return read_bundle(self.folder)

    @property
    def is_synthetic(self) -> bool:
        """Whether no real user is in it."""
        return self.bundle.manifest.name.startswith(SYNTHETIC)

    @property
    def title(self) -> str:
        """What it is, in words that any table or figure can carry."""
        manifest = self.bundle.manifest
        users = f"{manifest.n_users:,} users"
        if self.is_synthetic:
            return f"synthetic shape of {TITLES[self.name]}, {users}"
        stands_in = STAND_INS.get(manifest.name)
        return f"{TITLES[self.name] if stands_in is None else stands_in[1]}, {users}"
