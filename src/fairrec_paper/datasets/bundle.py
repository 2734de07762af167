"""A bundle: a data set in one folder and one form, whatever its publisher's files look like."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl
from pydantic import BaseModel, ConfigDict

from fairrec.core.errors import InputError, plain
from fairrec.core.files import file_sum, is_json_with, put_table, refuse_foreign
from fairrec.core.folders import settle, whole_folder
from fairrec.core.json_file import load_json
from fairrec.core.parquet import Kind, is_id, is_time, is_value, lists_of, read_parquet

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
    settle(folder)
    if not is_json_with(folder / _MANIFEST, "attributes", "positive", "sha256"):
        refuse_foreign(folder, (*(f"{name}.parquet" for name in TABLES), _MANIFEST), "bundle")


def write_bundle(bundle: Bundle, folder: Path) -> Manifest:
    """Write the tables and the manifest; they appear only when all are complete."""
    refuse_no_bundle(folder)
    with whole_folder(folder, owned=(_MANIFEST,)) as part:
        for name in TABLES:
            put_table(getattr(bundle, name), part / f"{name}.parquet", compression_level=1)
        sums = {name: file_sum(part / f"{name}.parquet") for name in TABLES}
        manifest = bundle.manifest.model_copy(update={"sha256": sums})
        (part / _MANIFEST).write_text(manifest.model_dump_json(indent=2) + "\n", encoding="utf-8")
    return manifest


def read_bundle(folder: Path) -> Bundle:
    """The bundle in a folder; an error where it is none, or not the one that was written."""
    settle(folder)
    manifest_file = folder / _MANIFEST
    if not manifest_file.exists():
        raise InputError(
            f"{plain(folder, 300)}: no bundle there. Make one with fairrec-paper prepare"
        )
    manifest = load_json(manifest_file, Manifest, "manifest", _AGAIN, _AGAIN)
    pair = {"user_id": is_id, "item_id": is_id}
    columns: dict[str, dict[str, Kind]] = {
        "interactions": {**pair, "is_positive": pl.Boolean.is_, "time": is_time},
        "users": {"user_id": is_id, **dict.fromkeys(manifest.attributes, is_value)},
        "items": {"item_id": is_id, "categories": lists_of(is_id)},
    }
    tables = {}
    for name in TABLES:
        file = folder / f"{name}.parquet"
        if not file.is_file() or file_sum(file) != manifest.sha256.get(name):
            raise InputError(
                f"{file}: is missing or not what was prepared (its checksum differs from "
                f"manifest.json). {_AGAIN}"
            )
        key = {"users": "user_id", "items": "item_id"}.get(name)
        tables[name] = read_parquet(file, _AGAIN, columns[name], key, optional=("categories",))
    return Bundle(manifest=manifest, **tables)
