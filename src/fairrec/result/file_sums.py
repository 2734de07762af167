"""Which files were written together: the checksums that tell a file of another result.

`result.json` has those of the tables beside it. What may differ each time the same command is given
is not in it: `run.json` has the checksum of `result.json`, and of a table written in parts. So a
file that somebody copied there is noticed, and one that was read while the files of a folder were
replaced one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fairrec.core.errors import InputError, plain
from fairrec.core.files import errors_of_reading, file_sum, open_file

RESULT = "result.json"
_FIX = (
    "Read it again if a command is writing there; else audit again, or put back the file that was "
    "written beside result.json."
)


@dataclass(frozen=True, slots=True)
class FileSums:
    """What a `result.json` says of the files beside it.

    Parameters
    ----------
    result : checksum of `result.json` as it was read; empty where it was not
    beside : those of other files, by their names; none in results from before they were written
    """

    result: str = ""
    beside: Mapping[str, str] = field(default_factory=dict)

    def refuse_other(self, file: Path) -> None:
        """An error where a file is not the one that was written with the result.

        Asked after it was read: then it cannot have been replaced in between.
        """
        if self.beside and self.beside.get(file.name) != sum_of(file):
            raise _other(file)

    def refuse_other_run(self, file: Path, files: Mapping[str, str]) -> None:
        """An error where a run tells of another result.

        Parameters
        ----------
        files : the checksums it has; none in runs from before they were written
        """
        if self.result and files.get(RESULT, self.result) != self.result:
            raise _other(file)

    def with_run(self, files: Mapping[str, str]) -> FileSums:
        """The same with the checksums that only a run has."""
        return FileSums(self.result, {**files, **self.beside})


NO_SUMS = FileSums()


def sums_in(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """The checksums of those files that are there."""
    return {name: file_sum(folder / name) for name in names if (folder / name).exists()}


def sum_of(file: Path) -> str:
    """The checksum of a file somebody gave us."""
    with open_file(file, _FIX), errors_of_reading(file, _FIX):
        return file_sum(file)


def _other(file: Path) -> InputError:
    return InputError(
        f"{plain(file, 300)}: is not the file that was written with the result.json beside it. "
        f"{_FIX}"
    )
