"""The data sets of the experiments: files at hand, or a synthetic shape in their place."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path

from fairrec.core.errors import InputError, plain
from fairrec.core.progress import Progress
from fairrec.datasets import DATASETS
from fairrec.datasets.bundle import Bundle, read_bundle, write_bundle
from fairrec.datasets.prepare import prepare
from fairrec.datasets.synthetic import shaped_like, synthetic_bundle
from fairrec.datasets.world_options import WorldOptions

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
class Source:
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


class Sources:
    """The data sets given, and synthetic ones made when they are asked for.

    Parameters
    ----------
    given : `NAME=FOLDER` or `FOLDER`, a bundle or a folder with a publisher's files
    scratch : where bundles are written
    """

    def __init__(
        self, given: Iterable[str], scratch: Path, quick: bool = False, seed: int = 0
    ) -> None:
        self._scratch, self._quick, self._seed = scratch, quick, seed
        self._folders: dict[str, tuple[str, Path]] = {}
        self._made: dict[str, Source] = {}
        for text in given:
            holds, folder = _named(text)
            name = paper_name(holds, folder)
            if name in self._folders:
                raise InputError(
                    f"--data {plain(text)}: another folder is given for {name} already. "
                    "Give one of them."
                )
            self._folders[name] = (holds, folder)

    @property
    def given(self) -> tuple[str, ...]:
        """The paper's data sets for which files were given."""
        return tuple(self._folders)

    def get(self, name: str, told: Progress) -> Source:
        """What is used for a data set of the paper."""
        if name not in self._made:
            self._made[name] = self._make(name, told)
        return self._made[name]

    def _make(self, name: str, told: Progress) -> Source:
        if name not in self._folders:
            return self._synthetic(name, told)
        holds, folder = self._folders[name]
        if (folder / "manifest.json").exists():
            key = "-".join(holds.split())
            return Source(name, folder, key)
        told(f"preparing {holds}", 0, 0)
        prepare(holds, folder, self._scratch / holds)
        return Source(name, self._scratch / holds, holds)

    def _synthetic(self, name: str, told: Progress) -> Source:
        options = shaped_like(name, seed=self._seed)
        return world_source(name, small(options) if self._quick else options, self._scratch, told)


def small(options: WorldOptions) -> WorldOptions:
    """A world of the same form in which everything runs in a moment."""
    n_values = 3 if len(options.attributes) <= 3 else 2
    return replace(
        options,
        n_users=240,
        n_items=120,
        n_categories=12,
        interactions=12.0,
        attributes=fewer_values(options, dict.fromkeys(options.attributes, n_values)),
    )


def fewer_values(options: WorldOptions, most: Mapping[str, int]) -> dict[str, Mapping[str, float]]:
    """The attributes with no more than so many values each, the most frequent ones."""
    return {
        name: dict(sorted(shares.items(), key=lambda pair: -pair[1])[: most.get(name)])
        for name, shares in options.attributes.items()
    }


def world_source(name: str, options: WorldOptions, scratch: Path, told: Progress) -> Source:
    """A synthetic world on disk; one made before with the same options is taken again."""
    about = json.dumps(asdict(options), sort_keys=True)
    key = f"synthetic-{name}-{hashlib.sha256(about.encode()).hexdigest()[:8]}"
    folder = scratch / key
    if not (folder / "manifest.json").exists():
        told("making a world", 0, 0)
        write_bundle(synthetic_bundle(options), folder)
    return Source(name, folder, key)


def _named(text: str) -> tuple[str, Path]:
    """What a folder holds: by its manifest, by the name given, or by the name of the folder."""
    name, equals, rest = text.partition("=")
    folder = Path(rest if equals and name in DATASETS else text)
    if not folder.is_dir():
        raise InputError(
            f"--data {plain(text)}: is no folder. Give a bundle (see fairrec prepare) or a folder "
            "with the publisher's files."
        )
    if (folder / "manifest.json").exists():
        holds = read_bundle(folder).manifest.name
        if equals and name in DATASETS and name != holds:
            raise InputError(f"--data {plain(text)}: that bundle holds '{plain(holds)}'.")
        return holds, folder
    holds = name if equals and name in DATASETS else folder.resolve().name
    if holds not in DATASETS:
        raise InputError(
            f"--data {plain(text)}: is no bundle, and its name does not say which data set it is. "
            f"Say it: --data NAME={plain(folder)} with one of {', '.join(DATASETS)}."
        )
    return holds, folder


def paper_name(holds: str, folder: Path) -> str:
    """The paper's data set that a bundle of this name is used for."""
    name = holds.removeprefix(SYNTHETIC)
    if name in STAND_INS:
        return STAND_INS[name][0]
    if name not in TITLES:
        known: Mapping[str, object] = {**TITLES, **STAND_INS}
        raise InputError(
            f"{folder}: holds '{plain(holds)}', which no experiment of the paper uses. "
            f"Give one of {', '.join(known)}."
        )
    return name
