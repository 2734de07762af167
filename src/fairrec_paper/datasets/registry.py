"""The data sets FairRec can prepare."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fairrec.core.progress import Progress
from fairrec.core.registry import Registry
from fairrec_paper.datasets.bundle import Bundle


@dataclass(frozen=True, slots=True)
class Dataset:
    """A data set as its publisher offers it.

    Parameters
    ----------
    files : the publisher's files that are read
    attributes : those of the paper, or what stands in for them
    n_groups : intersections of all attributes (full combinations), as published
    read : folder with the files -> bundle
    """

    name: str
    title: str
    where: str
    licence: str
    files: tuple[str, ...]
    attributes: tuple[str, ...]
    n_groups: str
    read: Callable[[Path, Progress], Bundle]


DATASETS: Registry[Dataset] = Registry("data set", "fairrec_paper.datasets.readers")
