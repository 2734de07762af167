"""A table of the view."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class TableView:
    """A table as text: which columns are numbers, and a row of text each.

    Parameters
    ----------
    spare : columns that a narrow layout may leave out, the first one first
    """

    title: str
    columns: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    spare: tuple[str, ...] = ()

    def without(self, column: str) -> TableView:
        """The same without a column."""
        at = self.columns.index(column)
        return replace(
            self,
            columns=self.columns[:at] + self.columns[at + 1 :],
            numeric=self.numeric[:at] + self.numeric[at + 1 :],
            rows=tuple(row[:at] + row[at + 1 :] for row in self.rows),
        )
