"""The paper's data sets: where their bundles come from, or synthetic shapes of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path

from fairrec.core.errors import InputError, plain
from fairrec.core.option_types import UnfitError, split_pairs
from fairrec.core.options import spell
from fairrec.core.progress import Progress
from fairrec.demo.world_options import WorldOptions
from fairrec_paper.datasets.bundle import DATASETS, Bundle, prepare, read_bundle, write_bundle
from fairrec_paper.datasets.synthetic import shaped_like, synthetic_bundle
from fairrec_paper.reproduction.options import OURS, PAPER
from fairrec_paper.reproduction.protocol import apply_protocol, paper_protocol, source_stamp

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
        return f"{TITLES[self.name]}, {users}"


class DataCatalogue:
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
        self._made: dict[tuple[str, str], DataSource] = {}
        for text in given:
            holds, folder = _identify_folder(text)
            name = paper_name(holds, folder)
            if name in self._folders:
                raise InputError(
                    f"{spell('data', text)}: another folder is given for {name} already. "
                    "Give one of them."
                )
            self._folders[name] = (holds, folder)

    @property
    def given(self) -> tuple[str, ...]:
        """The paper's data sets for which files were given."""
        return tuple(self._folders)

    def get(self, name: str, progress: Progress, protocol: str = OURS) -> DataSource:
        """What is used for a data set of the paper, as a protocol has it."""
        made = self._made.get((name, protocol))
        if made is None:
            made = (
                self._make(name, progress)
                if protocol == OURS
                else _apply_paper_protocol(self.get(name, progress), self._scratch, progress)
            )
            self._made[name, protocol] = made
        return made

    def _make(self, name: str, progress: Progress) -> DataSource:
        if name not in self._folders:
            options = shaped_like(name, seed=self._seed)
            options = small(options) if self._quick else options
            return world_source(name, options, self._scratch, progress)
        holds, folder = self._folders[name]
        if (folder / "manifest.json").exists():
            return DataSource(name, folder, "-".join(holds.split()))
        progress(f"preparing {holds}", 0, 0)
        prepare(holds, folder, self._scratch / holds)
        return DataSource(name, self._scratch / holds, holds)


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


def _apply_paper_protocol(ours: DataSource, scratch: Path, progress: Progress) -> DataSource:
    """The data by the paper's protocol; those made before from the same are taken again."""
    protocol = paper_protocol(ours.name)
    key = f"{ours.key}-{PAPER}"
    made = DataSource(ours.name, scratch / key, key)
    stamp = source_stamp(ours.bundle, protocol)
    if (made.folder / "manifest.json").exists() and stamp in made.bundle.manifest.notes:
        return made
    progress("taking data as the paper does", 0, 0)
    write_bundle(apply_protocol(ours.bundle, protocol), made.folder)
    return DataSource(ours.name, made.folder, key)


def _identify_folder(text: str) -> tuple[str, Path]:
    """What a folder holds: by its manifest, by the name given, or by the name of the folder."""
    try:
        ((name, rest),) = split_pairs([text]).items()
    except UnfitError:
        name, rest = "", text
    is_named = name in DATASETS
    folder = Path(rest if is_named else text)
    if not folder.is_dir():
        raise InputError(
            f"{spell('data', text)}: is no folder. Give a bundle (see fairrec-paper prepare) or "
            "a folder with the publisher's files."
        )
    if (folder / "manifest.json").exists():
        holds = read_bundle(folder).manifest.name
        if is_named and name != holds:
            raise InputError(
                f"{spell('data', text)}: that bundle holds '{plain(holds)}'. Leave out the name."
            )
        return holds, folder
    holds = name if is_named else folder.resolve().name
    if holds not in DATASETS:
        raise InputError(
            f"{spell('data', text)}: is no bundle, and its name does not say which data set it "
            f"is. Say it: {spell('data', f'NAME={folder}')} with one of {', '.join(DATASETS)}."
        )
    return holds, folder


def paper_name(holds: str, folder: Path) -> str:
    """The paper's data set that a bundle of this name is used for."""
    name = holds.removeprefix(SYNTHETIC)
    if name not in TITLES:
        raise InputError(
            f"{folder}: holds '{plain(holds)}', which no experiment of the paper uses. "
            f"Give one of {', '.join(TITLES)}."
        )
    return name
