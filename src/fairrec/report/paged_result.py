"""A result of one JSON file, tables and a page: how it is saved and shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from fairrec.core.atomic_io import put_table
from fairrec.report.audit_result import show_page
from fairrec.result.folder import ResultKind, names_to_replace, write_with_page
from fairrec.result.parts import ID, result_id, save_part


class PagedResult:
    """What is the same for all of them; each has a `summary`."""

    __slots__ = ()
    kind: ClassVar[ResultKind]
    summary: Any

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """Tables beside the summary, by the names of their files."""
        return {}

    def page(self) -> str:
        """Its page as HTML."""
        raise NotImplementedError

    def save(self, folder: str | Path, report: bool = True, force: bool = False) -> Path:
        """Write its files and the page, `report.html`, into a folder.

        A result of this kind there is replaced as a whole; other files stay.

        Parameters
        ----------
        report : whether to write the page
        force : replace a result of another kind, or files of these names that are of none
        """
        folder, tables = Path(folder), self.tables
        names = names_to_replace(self.kind, folder, force)
        id = result_id(self.summary, *tables.values())

        def write(part: Path) -> None:
            for name, table in tables.items():
                put_table(table, part / name, compression_level=1, metadata={ID: id})
            save_part(self.summary, part / self.kind.known_by, id)

        write_with_page(folder, names, id, write, self.page if report else None)
        return folder

    def show(self) -> Path | None:
        """Show the page below a cell of a notebook; elsewhere write a file and give its path."""
        return show_page(self.page())

    def to_json(self) -> str:
        """The content of its JSON file."""
        json: str = self.summary.model_dump_json(indent=2)
        return json
