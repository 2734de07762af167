"""The audits of users and of items in the same lists, beside each other."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from fairrec.core.audit_options import AggregatesOnly, MinShown, SharingOptions
from fairrec.core.errors import InputError, OutputError, plain
from fairrec.core.folders import settle
from fairrec.core.json_file import load_json
from fairrec.core.options import documented
from fairrec.core.version import __version__
from fairrec.result.audit_result import AuditResult
from fairrec.result.both_schema import BothSummary
from fairrec.result.file_sums import RESULT, sum_of
from fairrec.result.own_folder import AUDIT, BOTH, names_to_replace
from fairrec.result.page import write_with_page
from fairrec.result.show import show_page
from fairrec.statistics.outcome import Outcome, outcome_of_all

SIDES = ("users", "items")
"""The folders of the two audits, and what each is of."""
BothPageMaker = Callable[[AuditResult, AuditResult, str, str], str]
"""Users' and items' audit, the command of both, and where their folders are from the page; empty
where they are in none."""


@dataclass(frozen=True, slots=True)
class BothSides:
    """Whom lists serve, and what they show: an audit of each.

    Parameters
    ----------
    users, items : each a result by itself
    command : how to run both again, without the auditor's folders
    page : draws both; whoever makes the result hands it in
    """

    users: AuditResult
    items: AuditResult
    command: str = field(compare=False)
    page: BothPageMaker = field(compare=False)

    def __repr__(self) -> str:
        """What each audit says of itself."""
        return f"{self.users!r}\n{self.items!r}"

    def _repr_html_(self) -> str:
        return self.users._repr_html_() + self.items._repr_html_()

    @property
    def outcome(self) -> Outcome | None:
        """The one that matters most; None where nothing was tested."""
        found = [one.verdict.outcome for one in (self.users, self.items)]
        tested = [outcome for outcome in found if outcome is not None]
        return outcome_of_all(tested) if tested else None

    def each(self, change: Callable[[AuditResult], AuditResult]) -> BothSides:
        """The same with something done to each of both."""
        return replace(self, users=change(self.users), items=change(self.items))

    @documented(SharingOptions)
    def shown(self, min_shown: MinShown = SharingOptions.min_shown) -> BothSides:
        """The same without groups and values of fewer users or items, to be passed on.

        Parameters
        ----------
        min_shown : see SharingOptions
        """
        return self.each(lambda one: one.shown(min_shown))

    @documented(SharingOptions)
    def save(
        self,
        folder: str | Path,
        report: bool = True,
        force: bool = False,
        min_shown: MinShown = SharingOptions.min_shown,
        aggregates_only: AggregatesOnly = SharingOptions.aggregates_only,
    ) -> Path:
        """Write each audit into a folder of its own in this one, `users` and `items`.

        Beside them `both.json`, which vouches for the two, and the page of both, `report.html`.

        Parameters
        ----------
        report : whether to write the pages
        force : replace what is of another kind; what was read and a trained run stay
        min_shown, aggregates_only : see SharingOptions
        """
        folder = Path(folder)
        audits = dict(zip(SIDES, (self.users, self.items), strict=True))
        read = [path for one in audits.values() if one.run for path in one.run.paths()]
        names = names_to_replace(BOTH, folder, force, read)
        for side, one in audits.items():
            names_to_replace(AUDIT, folder / side, force, one.run.paths() if one.run else ())
        sums = {}
        for side, one in audits.items():
            one.save(folder / side, report, force, min_shown, aggregates_only)
            sums[f"{side}/{RESULT}"] = sum_of(folder / side / RESULT)
        passed_on = self.shown(min_shown)
        make_page = partial(self.page, passed_on.users, passed_on.items, self.command, "./")
        write = partial(self._write_file, folder=folder, sums=sums)
        write_with_page(folder, names, write, make_page if report else None)
        return folder

    def show(self) -> Path | None:
        """Show the page below a cell of a notebook; elsewhere write a file and give its path."""
        return show_page(self.page(self.users, self.items, self.command, ""))

    def to_json(self) -> str:
        """The content of both `result.json`, under `users` and `items`."""
        sides = {name: json.loads(getattr(self, name).to_json()) for name in SIDES}
        return json.dumps({"outcome": self.outcome, **sides}, indent=2, ensure_ascii=False)

    def _write_file(self, part: Path, folder: Path, sums: dict[str, str]) -> None:
        if other := [name for name, known in sums.items() if sum_of(folder / name) != known]:
            raise OutputError(
                f"{plain(folder, 300)}: {other[0]} was written by another audit meanwhile. Give "
                "each audit a folder of its own, and audit again."
            )
        summary = BothSummary(
            fairrec_version=__version__,
            command=self.command,
            outcome=self.outcome,
            files=sums,
        )
        text = summary.model_dump_json(indent=2) + "\n"
        (part / BOTH.known_by).write_text(text, encoding="utf-8")


def load_both(folder: str | Path) -> BothSummary | None:
    """What vouches for both audits in a folder, whose results are still those; None without."""
    folder = Path(folder)
    settle(folder)
    path = folder / BOTH.known_by
    if not path.exists():
        return None
    summary = load_json(path, BothSummary, "audit of both sides")
    for side in SIDES:
        settle(folder / side)
        if sum_of(folder / side / RESULT) != summary.files.get(f"{side}/{RESULT}"):
            raise InputError(
                f"{plain(folder, 300)}: {side}/{RESULT} is not the one that was written with "
                f"{BOTH.known_by}, so it is of another audit. Audit both sides again, or name the "
                f"folder of one: {plain(folder / side, 300)}"
            )
    return summary
