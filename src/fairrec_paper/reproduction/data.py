"""The paper's data sets: where their bundles come from, or synthetic shapes of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path

from fairrec.core.errors import InputError, plain
from fairrec.core.options import spell
from fairrec.core.progress import Progress
from fairrec.demo.world_options import WorldOptions
from fairrec_paper.datasets.bundle import Bundle, read_bundle, write_bundle
from fairrec_paper.datasets.synthetic import shaped_like, synthetic_bundle
from fairrec_paper.reproduction.options import PAPER, ReproduceOptions
from fairrec_paper.reproduction.protocol import apply_protocol, paper_protocol

TITLES = {
    "movielens-1m": "MovieLens-1M",
    "lfm360k": "LFM360K",
    "blackfriday": "BlackFriday",
    "amazon-electronics": "Amazon",
}
"""The paper's data sets."""
SYNTHETIC = "synthetic "


@dataclass(frozen=True)
class DataSource:
    """What is used for a data set of the paper.

    Parameters
    ----------
    name : the paper's data set
    folder : a bundle
    key : short and different for different data, for the names of trained runs
    by_paper : taken by the paper's protocol
    """

    name: str
    folder: Path
    key: str
    by_paper: bool = False

    @cached_property
    def bundle(self) -> Bundle:
        """The tables."""
        bundle = read_bundle(self.folder)
        return apply_protocol(bundle, paper_protocol(self.name)) if self.by_paper else bundle

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
        return f"{TITLES[self.name]}, {users}"


class DataCatalogue:
    """The data sets given, and synthetic ones made when they are asked for.

    Parameters
    ----------
    given : folders of bundles
    scratch : where synthetic bundles are written
    """

    def __init__(self, given: Iterable[str], scratch: Path, options: ReproduceOptions) -> None:
        self._scratch, self._options = scratch, options
        self._sources: dict[str, DataSource] = {}
        for text in given:
            holds = read_bundle(Path(text)).manifest.name
            name = paper_name(holds, Path(text))
            if name in self._sources:
                raise InputError(
                    f"{spell('data', text)}: another folder is given for {name} already. "
                    "Give one of them."
                )
            self._sources[name] = self._by_protocol(
                DataSource(name, Path(text), "-".join(holds.split()))
            )
        self.given = tuple(self._sources)
        """The paper's data sets for which folders were given."""

    def get(self, name: str, progress: Progress) -> DataSource:
        """What is used for a data set of the paper."""
        if name not in self._sources:
            world = shaped_like(name, seed=self._options.seed)
            world = small(world) if self._options.quick else world
            made = world_source(name, world, self._scratch, progress)
            self._sources[name] = self._by_protocol(made)
        return self._sources[name]

    def _by_protocol(self, source: DataSource) -> DataSource:
        if self._options.protocol != PAPER:
            return source
        return replace(source, key=f"{source.key}-{PAPER}", by_paper=True)


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


def world_source(name: str, options: WorldOptions, scratch: Path, progress: Progress) -> DataSource:
    """A synthetic world on disk; one made before with the same options is taken again."""
    about = json.dumps(asdict(options), sort_keys=True)
    key = f"synthetic-{name}-{hashlib.sha256(about.encode()).hexdigest()[:8]}"
    folder = scratch / key
    if not (folder / "manifest.json").exists():
        progress("making synthetic data", 0, 0)
        write_bundle(synthetic_bundle(options), folder)
    return DataSource(name, folder, key)


def paper_name(holds: str, folder: Path) -> str:
    """The paper's data set that a bundle of this name is used for."""
    name = holds.removeprefix(SYNTHETIC)
    if name not in TITLES:
        raise InputError(
            f"{folder}: holds '{plain(holds)}', which no experiment of the paper uses. "
            f"Give one of {', '.join(TITLES)}."
        )
    return name
