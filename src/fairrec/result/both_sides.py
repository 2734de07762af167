"""The audits of users and of items in the same lists, beside each other."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from fairrec.core.audit_options import AggregatesOnly, MinShown, SharingOptions
from fairrec.core.errors import InputError, plain
from fairrec.core.json_file import load_json
from fairrec.core.options import documented
from fairrec.core.version import __version__
from fairrec.result.audit_result import AuditResult, put_audit
from fairrec.result.both_schema import BothSummary
from fairrec.result.file_sums import RESULT, sum_of, sums_in
from fairrec.result.own_folder import BOTH, SIDES, names_to_replace
from fairrec.result.page import write_with_page
from fairrec.result.show import show_page
from fairrec.statistics.outcome import Outcome, outcome_of_all

_VOUCHED = tuple(f"{side}/{RESULT}" for side in SIDES)
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
        """That of all metrics of both; None where nothing was tested."""
        tested = [
            (about.verdict.outcome, about.higher_is_better)
            for one in (self.users, self.items)
            for about in one.metrics.values()
            if about.verdict is not None
        ]
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

        Beside them `both.json`, which vouches for the two, and the page of both, `report.html`. All
        of it appears only when all is written, and an audit of both sides there is replaced as a
        whole; files of others stay.

        Parameters
        ----------
        report : whether to write the pages
        force : replace what is of another kind; what was read and a trained run stay
        min_shown, aggregates_only : see SharingOptions
        """
        folder = Path(folder)
        sharing = SharingOptions.of(min_shown=min_shown, aggregates_only=aggregates_only)
        both = self.each(lambda one: one.passed_on(sharing))
        names = names_to_replace(BOTH, folder, force, [*self.users.paths(), *self.items.paths()])
        make_page = partial(self.page, both.users, both.items, self.command, "./")
        pages = {side: getattr(both, side).drawn for side in SIDES}
        write = partial(both._write_files, folder=folder)
        write_with_page(folder, names, write, make_page if report else None, pages)
        return folder

    def show(self) -> Path | None:
        """Show the page below a cell of a notebook; elsewhere write a file and give its path."""
        return show_page(self.page(self.users, self.items, self.command, ""))

    def to_json(self) -> str:
        """The content of both `result.json`, under `users` and `items`."""
        sides = {name: json.loads(getattr(self, name).to_json()) for name in SIDES}
        return json.dumps({"outcome": self.outcome, **sides}, indent=2, ensure_ascii=False)

    def _write_files(self, part: Path, folder: Path) -> None:
        for side in SIDES:
            (part / side).mkdir()
            put_audit(getattr(self, side), part / side, folder / side)
        summary = BothSummary(
            fairrec_version=__version__,
            command=self.command,
            outcome=self.outcome,
            files=sums_in(part, _VOUCHED),
        )
        text = summary.model_dump_json(indent=2) + "\n"
        (part / BOTH.known_by).write_text(text, encoding="utf-8")


def load_both(folder: Path) -> BothSummary:
    """What vouches for both audits in a folder, whose results are still those."""
    summary = load_json(folder / BOTH.known_by, BothSummary, "audit of both sides")
    for name in _VOUCHED:
        if sum_of(folder / name) != summary.files.get(name):
            raise InputError(
                f"{plain(folder, 300)}: {name} is not the one that was written with "
                f"{BOTH.known_by}, so it is of another audit. Audit both sides again, or name the "
                f"folder of one: {plain((folder / name).parent, 300)}"
            )
    return summary


def refuse_other_sides(folder: Path, users: AuditResult, items: AuditResult) -> None:
    """An error where the folder of a side holds an audit of the other one."""
    for side, audit in zip(SIDES, (users, items), strict=True):
        unit = audit.summary.unit
        if unit.side != side:
            raise InputError(
                f"{plain(folder, 300)}: {side}/{RESULT} is an audit of {unit.many}, so "
                f"{BOTH.known_by} is not what was written with it. Audit both sides again."
            )
