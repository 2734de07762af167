"""A bundle: a data set in one folder and one form, and the data sets that can be prepared."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal

import polars as pl
from pydantic import BaseModel, ConfigDict

from fairrec.core.atomic_io import atomic_folder, check_writable, put_table, refuse_foreign
from fairrec.core.errors import InputError, plain
from fairrec.core.files import file_sum, is_json_with
from fairrec.core.options import spell
from fairrec.core.progress import Progress
from fairrec.core.registry import Registry
from fairrec.core.saved_files import (
    Kind,
    is_id,
    is_time,
    is_value,
    lists_of,
    load_json,
    read_parquet,
)

TABLES = ("interactions", "users", "items")
_MANIFEST = "manifest.json"
_AGAIN = "Prepare the data again, into another folder."
"""In its own folder, a damaged bundle would be taken for files of others."""


class Manifest(BaseModel):
    """What a bundle holds and where it came from; `manifest.json`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal["1"] = "1"
    name: str
    source: str
    licence: str
    attributes: tuple[str, ...]
    positive: str
    order: str
    n_interactions: int
    n_positive: int
    n_users: int
    n_items: int
    notes: tuple[str, ...] = ()
    sha256: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Bundle:
    """A data set, ready to split and train on.

    Parameters
    ----------
    interactions : `user_id`, `item_id`, `is_positive`, `time` (seconds; null where not known), and
        what else the publisher gives
    users : `user_id` and attributes
    items : `item_id`, and `categories` (lists) where the publisher gives them
    """

    interactions: pl.DataFrame
    users: pl.DataFrame
    items: pl.DataFrame
    manifest: Manifest

    @property
    def has_categories(self) -> bool:
        """Whether items have categories."""
        return "categories" in self.items.columns


def refuse_no_bundle(folder: Path) -> None:
    """Refuse a folder in which a bundle would replace tables that are of none."""
    if not is_json_with(folder / _MANIFEST, "attributes", "positive", "sha256"):
        refuse_foreign(folder, (*(f"{name}.parquet" for name in TABLES), _MANIFEST), "bundle")


def write_bundle(bundle: Bundle, folder: Path) -> Manifest:
    """Write the tables and the manifest; they appear only when all are complete."""
    refuse_no_bundle(folder)
    with atomic_folder(folder, owned=(_MANIFEST,)) as part:
        for name in TABLES:
            put_table(getattr(bundle, name), part / f"{name}.parquet", compression_level=1)
        sums = {name: file_sum(part / f"{name}.parquet") for name in TABLES}
        manifest = bundle.manifest.model_copy(update={"sha256": sums})
        (part / _MANIFEST).write_text(manifest.model_dump_json(indent=2) + "\n", encoding="utf-8")
    return manifest


def read_bundle(folder: Path) -> Bundle:
    """The bundle in a folder; an error where it is none, or not the one that was written."""
    manifest_file = folder / _MANIFEST
    if not manifest_file.exists():
        raise InputError(
            f"{plain(folder, 300)}: no bundle there. Make one with fairrec-paper prepare"
        )
    manifest = load_json(manifest_file, Manifest, "manifest", _AGAIN, _AGAIN)
    pair = {"user_id": is_id, "item_id": is_id}
    tables: dict[str, tuple[str | None, dict[str, Kind]]] = {
        "interactions": (None, {**pair, "is_positive": pl.Boolean.is_, "time": is_time}),
        "users": ("user_id", {"user_id": is_id, **dict.fromkeys(manifest.attributes, is_value)}),
        "items": ("item_id", {"item_id": is_id, "categories": lists_of(is_id)}),
    }
    frames = {}
    for name, (key, columns) in tables.items():
        file = folder / f"{name}.parquet"
        if not file.is_file() or file_sum(file) != manifest.sha256.get(name):
            raise InputError(
                f"{file}: is missing or not what was prepared (its checksum differs from "
                f"manifest.json). {_AGAIN}"
            )
        frames[name] = read_parquet(file, _AGAIN, columns, key, optional=("categories",))
    return Bundle(manifest=manifest, **frames)


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

    title: str
    where: str
    licence: str
    files: tuple[str, ...]
    attributes: tuple[str, ...]
    n_groups: str
    read: Callable[[Path, Progress], Bundle]


DATASETS: Registry[Dataset] = Registry("data set", "fairrec_paper.datasets.readers")


def prepare(name: str, raw: Path, out: Path, progress: Progress | None = None) -> Manifest:
    """Read the files in `raw`, write the bundle to `out` and return its manifest.

    Parameters
    ----------
    name : one of `DATASETS`
    raw : folder with the publisher's files
    progress : called with stage, steps done and steps in all
    """
    progress = progress or (lambda stage, done, total: None)
    dataset = DATASETS[name]
    if not raw.is_dir():
        raise InputError(
            f"{raw}: is no folder. Give the folder of the data set's files as {spell('raw')}."
        )
    check_writable(out)
    if out.exists() and out.samefile(raw):
        raise InputError(f"{out}: is the folder that is read. Choose another {spell('out')}.")
    refuse_no_bundle(out)
    try:
        bundle = dataset.read(raw, progress)
    except OSError as error:
        raise InputError(f"{raw}: cannot be read ({error}). Check its permissions.") from error
    progress("writing", 0, 0)
    return write_bundle(bundle, out)


def count_note(what: str, n: int) -> tuple[str, ...]:
    """A note on so many of something, or none where there are none.

    >>> count_note("ratings without a time", 1200)
    ('ratings without a time: 1,200',)
    """
    return (f"{what}: {n:,}",) if n else ()


def first_of_each_pair(interactions: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The first row of each user and item, and a note on the others."""
    firsts = interactions.unique(["user_id", "item_id"], keep="first", maintain_order=True)
    again = interactions.height - firsts.height
    return firsts, count_note("further rows of the same user and item, dropped", again)


def most_frequent(column: str, by: str, rows: pl.LazyFrame) -> pl.DataFrame:
    """`by` and its most frequent value of `column`; the first in sorted order among equals."""
    return (
        rows.group_by(by, column)
        .len()
        .collect(engine="streaming")
        .sort(by, "len", column, descending=[False, True, False])
        .unique(by, keep="first", maintain_order=True)
        .drop("len")
    )


def make_bundle(
    name: str,
    interactions: pl.DataFrame,
    users: pl.DataFrame,
    items: pl.DataFrame,
    files: Iterable[str],
    positive: str,
    order: str,
    notes: Iterable[str] = (),
) -> Bundle:
    """The bundle of a data set; users without interactions are dropped and counted.

    Parameters
    ----------
    interactions : each user and item once, users all in `users`
    files : what was read
    positive, order, notes : see `Manifest`
    """
    dataset, attributes = DATASETS[name], DATASETS[name].attributes
    if interactions.height == 0:
        raise InputError(
            f"{name}: no interaction is left ({'; '.join(notes) or 'the files are empty'}). "
            "Check that the files are whole."
        )
    active = users.filter(pl.col("user_id").is_in(interactions["user_id"].unique().implode()))
    idle = count_note("users without interactions, dropped", users.height - active.height)
    unknown = (count_note(f"users without {one}", active[one].null_count()) for one in attributes)
    manifest = Manifest(
        name=name,
        source=f"{dataset.where} (read from {', '.join(files)})",
        licence=dataset.licence,
        attributes=attributes,
        positive=positive,
        order=order,
        n_interactions=interactions.height,
        n_positive=int(interactions["is_positive"].sum()),
        n_users=active.height,
        n_items=items.height,
        notes=(*notes, *idle, *chain(*unknown)),
    )
    return Bundle(interactions, active, items, manifest)
