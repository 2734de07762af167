"""Parquet and Arrow files of the user's, looked at before Polars reads them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from fairrec.core.arrow_file import check_arrow
from fairrec.core.errors import plain
from fairrec.core.parquet_footer import CheckedParquet

CHECK = "Check that the file is whole and its ending tells its format."
"""What to do where a file cannot be read."""


class ParquetFiles:
    """The Parquet files of a table, whose footers have been checked.

    Parameters
    ----------
    where : the name of the table in messages
    """

    def __init__(self, files: Sequence[Path], where: str) -> None:
        self._checked: list[tuple[Path, CheckedParquet]] = []
        self._seen: set[str] = set()
        for file in files:
            place = where if len(files) == 1 else f"{where}, {plain(file.name)}"
            with file.open("rb") as stream:
                self._checked.append((file, CheckedParquet(stream, place, CHECK)))

    def check_pages(self, columns: Collection[str] | None = None) -> None:
        """Refuse damaged pages of some columns, or of all; each is looked at once."""
        # parts of a column have names of their own, and are in it
        all_columns = {name for _, checked in self._checked for name in checked.columns}
        is_known = columns is not None and all_columns.issuperset(columns)
        wanted = ({*columns} if columns is not None and is_known else all_columns) - self._seen
        for file, checked in self._checked if wanted else ():
            # headers are far apart, and what is read ahead is not looked at
            with file.open("rb", buffering=0) as stream:
                checked.check_pages(stream, wanted)
        self._seen |= wanted


def check_arrow_file(file: Path, where: str) -> None:
    """Refuse an Arrow file that is damaged or cut short."""
    with file.open("rb") as stream:
        check_arrow(stream, where, CHECK)
