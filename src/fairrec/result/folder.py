"""The folder of a result: which files are its own, who may replace them, and the id they share.

A result replaces one of its own kind as a whole. Anything else under its names is somebody's work:
it goes only where that is insisted on, and what is read for the new result does not go at all.

All files of a result carry one id, made from what it says. So a file of another result is refused,
be it copied there or read while the files of a folder were replaced.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import polars as pl

from fairrec.core.atomic_io import atomic_folder, check_writable, errors_of_disk, is_interrupted
from fairrec.core.errors import InputError, OutputError, as_unicode, listed, plain
from fairrec.core.files import is_json_with
from fairrec.core.options import spelled
from fairrec.inputs.formats import files_of
from fairrec.result.parts import with_id
from fairrec.result.schema import AuditSummary

if TYPE_CHECKING:
    from fairrec.counterfactuals.result import CounterfactualSummary
    from fairrec.mitigation.schema import MitigationSummary
    from fairrec.result.saved import AuditRun


class PageMaker(Protocol):
    """Draws a result as one HTML file."""

    def __call__(
        self,
        summary: AuditSummary,
        groups: pl.DataFrame,
        group_file: str = "groups.parquet",
        mitigation: MitigationSummary | None = None,
        run: AuditRun | None = None,
        counterfactual: CounterfactualSummary | None = None,
    ) -> str:
        """The page, with links to the table of groups; none where `group_file` is empty."""


PAGE, RESULT = "report.html", "result.json"
CardMaker = Callable[[AuditSummary], str]
"""Draws what a notebook shows of a result: a part of a page."""


@dataclass(frozen=True, slots=True)
class ResultKind:
    """A kind of result that lies in a folder.

    Parameters
    ----------
    called : with its article
    known_by : a JSON file of it that no other kind has, or only kinds that come before
    files : all that it may write; the last one vouches for the others
    """

    called: str
    known_by: str
    files: tuple[str, ...]


AUDIT = ResultKind(
    "an audit",
    "result.json",
    ("groups.parquet", "per_user.parquet", "report.html", "run.json", "result.json"),
)
MITIGATION = ResultKind(
    "a mitigation",
    "mitigation.json",
    (
        *("changes.parquet", "mitigation.json", "predictions.parquet", "reranker.json"),
        *AUDIT.files,
    ),
)
COUNTERFACTUAL = ResultKind(
    "a counterfactual", "counterfactual.json", ("counterfactual.json", *AUDIT.files)
)
COMPARISON = ResultKind(
    "a comparison",
    "comparison.json",
    ("changes.parquet", "report.html", "comparison.json"),
)
TREND = ResultKind("a trend", "trend.json", ("report.html", "trend.json"))
KINDS = (TREND, COMPARISON, MITIGATION, COUNTERFACTUAL, AUDIT)
"""A mitigation and a counterfactual hold an audit, so they come first."""


def name_of(folder: Path) -> str:
    """What to call the result of a folder."""
    return as_unicode(folder.name)


def kind_in(folder: Path) -> ResultKind | None:
    """The kind of result in a folder, by the name it is known by; None where there is none.

    Whether the file of that name can be read is for the reader to say.
    """
    return _first_kind(folder, Path.exists)


def refuse_no_audit(folder: Path) -> None:
    """An error where a folder holds a result without an audit of its own."""
    kind = kind_in(folder)
    if kind is not None and AUDIT.known_by not in kind.files:
        raise InputError(
            f"{plain(folder, 300)}: holds {kind.called} and no audit by itself. Name the folder of "
            "an audit: its --out."
        )


def names_to_replace(
    kind: ResultKind, folder: Path, force: bool, inputs: Iterable[str | Path] = ()
) -> tuple[str, ...]:
    """The names that are the new result's own in a folder, as `atomic_folder` takes them.

    An error where something under them is not to be replaced; asked before any work is done, and
    again when the result is written.

    Parameters
    ----------
    force : whether to replace results of another kind, and files of nobody's
    inputs : paths of what is read, which is never replaced
    """
    check_writable(folder)
    if is_json_with(folder / "run.json", "hyper_parameters"):
        raise OutputError(
            f"{plain(folder, 300)}: its run.json is of a trained run, and would be overwritten. "
            "Choose another folder."
        )
    inputs = [*inputs]
    where = plain(folder, 300)
    held = _own_kind_in(folder)
    if held is not None and held is not kind and not force:
        raise OutputError(
            f"{where}: holds {held.called}, which {kind.called} would replace as a whole. Choose "
            f"another folder, or insist: {spelled('force', True)}"
        )
    older = held.files if held else ()
    names = (*sorted({*older} - {*kind.files}), *kind.files)
    with errors_of_disk(folder):
        for name in names:
            if (folder / name).is_dir():
                raise IsADirectoryError(f"{name} is a folder there")
    foreign = [name for name in kind.files if name not in older and os.path.lexists(folder / name)]
    if foreign and not force and not is_interrupted(folder):
        raise OutputError(
            f"{where}: {listed(foreign)} there is of no result of FairRec and would be "
            f"overwritten. Choose another folder, or insist: {spelled('force', True)}"
        )
    there = [name for name in names if (folder / name).exists()]
    for file in (file for path in inputs for file in files_of(Path(path))):
        for name in there:
            if file.samefile(folder / name):
                raise OutputError(
                    f"{where}: {name} there is read for {kind.called}, which would replace it. "
                    "Choose another folder."
                )
    return names


def refuse_overwriting(name: str, file: Path | None, others: Iterable[object]) -> None:
    """An error where a file to be written is read, is written otherwise, or is of a result.

    Parameters
    ----------
    name : the option that names it
    others : paths of what is read or written besides; of a folder its files, and those that a
        result would have there. What is no path is left aside
    """
    if file is None:
        return
    with errors_of_disk(file):
        target = Path(os.path.realpath(file))
        kind = _own_kind_in(target.parent)
        if kind is not None and target.name in kind.files:
            raise OutputError(
                f"{plain(file, 300)}: is a file of {kind.called}, which {spelled(name)} would "
                "overwrite. Name another file."
            )
        for path in (path for path in others if isinstance(path, Path)):
            in_result = (path / each for kind in KINDS for each in kind.files)
            for other in (path, *files_of(path), *in_result):
                if _is_one(target, other):
                    raise OutputError(
                        f"{plain(file, 300)}: is read or written by this command already, and "
                        f"{spelled(name)} would overwrite it. Name another file."
                    )


def _is_one(file: Path, other: Path) -> bool:
    """Whether two names are, or will be, those of one file."""
    if file.is_file() and other.is_file():
        return file.samefile(other)
    return str(file) == os.path.realpath(other)


def _first_kind(folder: Path, is_it: Callable[[Path], bool]) -> ResultKind | None:
    return next((kind for kind in KINDS if is_it(folder / kind.known_by)), None)


def _own_kind_in(folder: Path) -> ResultKind | None:
    """The result of ours that lies in a folder, of any version.

    A file of its name that another tool wrote is none: it is not to be replaced.
    """
    return _first_kind(folder, _is_ours)


def _is_ours(file: Path) -> bool:
    return is_json_with(file, "schema_version", "fairrec_version")


def write_with_page(
    folder: Path,
    owned: Sequence[str],
    id: str,
    write: Callable[[Path], None],
    make_page: Callable[[], str] | None,
) -> None:
    """Write the files of a result and its page, all of them or none.

    A result may have taken hours: where only its page fails, the result is written without it, and
    the error says so.

    Parameters
    ----------
    owned : as of `atomic_folder`
    id : of the result, which all of its files carry
    write : writes all but the page into a folder
    make_page : None for no page
    """
    failed = None
    with atomic_folder(folder, owned) as part:
        write(part)
        try:
            page = make_page() if make_page else None
        except Exception as error:
            failed = error
        else:
            if page is not None:
                (part / PAGE).write_text(with_id(page, id), encoding="utf-8", newline="\n")
    if failed is not None:
        raise OutputError(
            f"{folder}: the result is written, but its page could not be made "
            f"({type(failed).__name__}: {failed}). Leave it out with {spelled('report', False)}."
        ) from failed
