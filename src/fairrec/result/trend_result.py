"""The result of looking at releases together: `trend.json` and its page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from fairrec.core.json_file import load_json
from fairrec.result.folder import TREND, names_to_replace, write_with_page
from fairrec.result.parts import result_id
from fairrec.result.show import show_page
from fairrec.result.trend_schema import TrendLine, TrendSummary

NAME = TREND.known_by

TrendPageMaker = Callable[[TrendSummary], str]


@dataclass(frozen=True, slots=True)
class TrendResult:
    """Groups over releases.

    Parameters
    ----------
    summary : the content of `trend.json`
    page : draws it; whoever makes the result hands it in
    """

    summary: TrendSummary
    page: TrendPageMaker = field(compare=False, repr=False)

    @property
    def lines(self) -> tuple[TrendLine, ...]:
        """Each group and metric that is shown."""
        return self.summary.lines

    @property
    def worse(self) -> tuple[TrendLine, ...]:
        """Groups that are worse since a release, and still are in the newest."""
        return self.summary.worse

    def save(self, folder: str | Path, report: bool = True, force: bool = False) -> Path:
        """Write `trend.json` and the page, `report.html`, into a folder; other files there stay.

        Parameters
        ----------
        report : whether to write the page
        force : replace a result of another kind, or files of these names that are of none
        """
        folder = Path(folder)
        make_page = partial(self.page, self.summary) if report else None
        names = names_to_replace(TREND, folder, force)
        id = result_id(self.summary)
        write_with_page(folder, names, id, partial(self._write_file, id=id), make_page)
        return folder

    def show(self) -> Path | None:
        """Show the page below a cell of a notebook; elsewhere write a file and give its path."""
        return show_page(self.page(self.summary))

    def to_json(self) -> str:
        """The content of `trend.json`."""
        return self.summary.model_dump_json(indent=2)

    def _write_file(self, part: Path, id: str) -> None:
        text = self.summary.model_copy(update={"id": id}).model_dump_json(indent=2)
        (part / NAME).write_text(text + "\n", encoding="utf-8")


def load_trend(folder: Path) -> TrendSummary:
    """The trend saved in a folder."""
    return load_json(folder / NAME, TrendSummary, "trend").model_copy(update={"id": ""})
