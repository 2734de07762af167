"""From a publisher's files to a bundle on disk."""

from __future__ import annotations

from pathlib import Path

from fairrec.core.errors import InputError
from fairrec.core.files import check_writable
from fairrec.core.options import spelled
from fairrec.core.progress import Progress
from fairrec_paper.datasets.bundle import Manifest, refuse_no_bundle, write_bundle
from fairrec_paper.datasets.registry import DATASETS


def prepare(name: str, raw: Path, out: Path, progress: Progress | None = None) -> Manifest:
    """Read the files in `raw`, write the bundle to `out` and return its manifest.

    Parameters
    ----------
    name : one of `DATASETS`
    raw : folder with the publisher's files
    progress : called with stage, steps done and steps in all
    """
    progress = progress or (lambda stage, done, total: None)
    dataset = DATASETS[name]
    if not raw.is_dir():
        raise InputError(
            f"{raw}: is no folder. Give the folder of the data set's files as {spelled('raw')}."
        )
    check_writable(out)
    if out.exists() and out.samefile(raw):
        raise InputError(f"{out}: is the folder that is read. Choose another {spelled('out')}.")
    refuse_no_bundle(out)
    try:
        bundle = dataset.read(raw, progress)
    except OSError as error:
        raise InputError(
            f"{error.filename or raw}: cannot be read ({error.strerror or error}). "
            "Check the file and its permissions."
        ) from error
    progress("writing", 0, 0)
    return write_bundle(bundle, out)
