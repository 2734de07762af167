"""What the named parts of all results are made of, and the id that the files of one share."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from fairrec.core.errors import InputError, plain
from fairrec.core.files import load_json

if TYPE_CHECKING:
    import polars as pl


ID = "fairrec.result"
"""The name of the id in the metadata of Parquet."""


MOST_FIELDS, LONGEST = 12, 60


class Part(BaseModel):
    """A frozen part of a result."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def __repr__(self) -> str:
        """The first fields with a value; of long ones how many entries they have."""
        fields = []
        for name in type(self).model_fields:
            value = getattr(self, name)
            text = f"{value:.4g}" if isinstance(value, float) else repr(value)
            if isinstance(value, tuple | dict) and len(text) > LONGEST:
                text = f"<{len(value):,}>"
            if value not in (None, "", (), {}):
                fields.append(f"{name}={text if len(text) <= LONGEST else text[:LONGEST] + '...'}")
        more = [f"{len(fields) - MOST_FIELDS} more fields"] * (len(fields) > MOST_FIELDS)
        return f"{type(self).__name__}({', '.join([*fields[:MOST_FIELDS], *more])})"


class ResultFile(Part):
    """The content of a JSON file of a result."""

    id: str = Field(
        default="",
        description="shared by all files of the result, made from it; empty where it is not saved",
    )


def result_id(*content: BaseModel | pl.DataFrame) -> str:
    """The id of a result with this content."""
    found = hashlib.sha256()
    for one in content:
        if isinstance(one, BaseModel):
            found.update(one.model_dump_json(exclude={"id"}).encode())
        else:
            found.update(one.write_csv().encode())
    return found.hexdigest()[:32]


def refuse_other_id(file: Path, found: str | None, id: str) -> None:
    """An error where a file does not carry the id of the result it is read with."""
    if (found or "") != id:
        raise InputError(
            f"{plain(file, 300)}: is of another result than the files beside it. Read it "
            "again if a command is writing there; else write the result again, or put back the "
            "file that was written with it."
        )


def with_id(page: str, id: str) -> str:
    """A page that carries the id of its result."""
    return f"{page.rstrip()}\n<!-- {ID} {id} -->\n"


def save_part(content: ResultFile, file: Path, id: str) -> None:
    """Write a JSON file of the result with an id."""
    text = content.model_copy(update={"id": id}).model_dump_json(indent=2)
    file.write_text(text + "\n", encoding="utf-8")


Content = TypeVar("Content", bound=ResultFile)


def load_part(
    path: Path, content: type[Content], called: str, id: str, again: str = "Write it again."
) -> Content:
    """The content of a JSON file of the result with an id; without it, as where it was made.

    Parameters
    ----------
    called, again : as of `load_json`
    """
    found = load_json(path, content, called, again=again)
    refuse_other_id(path, found.id, id)
    return found.model_copy(update={"id": ""})
