"""What is mitigated or planned by: an audit, a run or a table; what it says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairrec.core.errors import InputError, plain
from fairrec.core.options import declared
from fairrec.inputs.table_options import TableOptions

if TYPE_CHECKING:
    from fairrec.result.saved import AuditRun, Place
    from fairrec.result.schema import AuditSummary, InputSummary

BY_TABLES = "name the tables: fairrec mitigate PREDICTIONS --users USERS --by ..."
TO_PLAN = "name the tables: fairrec plan --users USERS --by ... --metrics ..."


def settings_of(source: Path) -> dict[str, Any]:
    """What a run or an audit says about itself, as arguments of `mitigate`."""
    # an audit has a run.json too, and a trained run may have an older audit beside it
    is_audit = (source / "result.json").is_file()
    if (source / ("model.safetensors" if is_audit else "run.json")).is_file():
        return _of_run(source)
    if is_audit:
        return _of_audit(source)
    if not source.exists():
        raise InputError(f"{source}: there is no such folder or table.")
    if source.is_dir():
        raise InputError(
            f"{source}: holds neither an audit (result.json) nor a trained run (run.json)."
        )
    return {"predictions": source}


def _of_run(folder: Path, sha256: str | None = None) -> dict[str, Any]:
    from fairrec.core.files import file_sum
    from fairrec.scoring.runs import load_run

    run = load_run(folder)
    if sha256 is not None and file_sum(weights := folder / "model.safetensors") != sha256:
        raise InputError(
            f"{folder}: was trained again since it was audited (the checksum of {weights.name} is "
            "another). Audit the run again."
        )
    return {
        "predictions": run.predictions("test"),
        "validation": run.predictions("validation"),
        **run.tables(),
    }


def _of_audit(folder: Path) -> dict[str, Any]:
    """The tables an audit read, where they are still as they were, and its options."""
    from fairrec.result.saved import load_saved

    summary, id = load_saved(folder)
    if not summary.unit.is_users:
        raise InputError(
            f"{folder}: is an audit of {summary.unit.many}, and lists are re-ranked for groups of "
            f"users. Name an audit of users, or {BY_TABLES}"
        )
    if (folder / "mitigation.json").exists():
        raise InputError(
            f"{folder}: holds a mitigation. Name the audit or the run it was made from, or the "
            "tables: fairrec mitigate PREDICTIONS --users USERS --by ..."
        )
    if summary.search.model_identity and "run" not in summary.inputs:
        raise InputError(
            f"{folder}: the scores of this audit came from a model that was asked for them. Write "
            "them to a table with a column score first: fairrec mitigate PREDICTIONS --users ..."
        )
    if "values" in summary.inputs:
        raise InputError(
            f"{folder}: this audit is of values per user. There are no lists to re-rank; name a "
            "table of them: fairrec mitigate PREDICTIONS --users USERS --by ..."
        )
    pooled = {name for name, result in summary.metrics.items() if result.sd is None}
    options: dict[str, Any] = {
        "by": summary.by,
        "columns": summary.columns,
        "relevant": summary.relevant,
        "gain": summary.gain,
        "missing_lists": summary.missing_lists,
        "metrics": [name for name in summary.metrics if name not in pooled],
        "depth": summary.depth,
        "min_support": summary.coverage.min_support,
        "permutations": summary.permutations,
        "alpha": summary.alpha,
        "seed": summary.seed,
        "title": summary.title,
        "author": summary.author,
    }
    if summary.model is not None:
        options |= {"model_name": summary.model.name, "model_version": summary.model.version}
    return {**_read_by(folder, summary, id), **options}


def planned_from(folder: Path) -> dict[str, Any]:
    """What an audit says of itself, as arguments of `plan`, with its users as a pilot."""
    from fairrec.result.saved import load_saved
    from fairrec.result.summary import options_of

    summary, id = load_saved(folder)
    tables = _read_by(folder, summary, id, TO_PLAN)
    names = [name for name, result in summary.metrics.items() if result.sd is not None]
    found = {
        **options_of(summary),
        **{name: tables[name] for name in declared(TableOptions) if name in tables},
        # attributes may stand beside the values
        "users": tables.get("users", tables.get("values")),
        "by": summary.by,
        "metrics": names,
        "columns": summary.columns,
        "given": None if summary.given is None else summary.given.named,
    }
    if "values" in tables:
        ends = {name: summary.metrics[name].higher_is_better for name in names}
        said = {True: "higher", False: "lower"}
        found["better"] = {name: said[end] for name, end in ends.items() if end is not None}
    pilot = folder / "per_user.parquet"
    if pilot.is_file():
        found["pilot"] = pilot
    elif len(names) == 1:
        (about,) = (summary.metrics[name] for name in names)
        found |= {"mean": about.mean, "sd": about.sd}
    return {name: value for name, value in found.items() if value}


def _read_by(
    folder: Path, summary: AuditSummary, id: str, otherwise: str = BY_TABLES
) -> dict[str, Any]:
    """The tables that an audit read, and what its run scored.

    Parameters
    ----------
    otherwise : what to do where they cannot be read again
    """
    run = _run_of(folder, id, otherwise)
    read = dict(summary.inputs)
    scored = {}
    if trained := read.pop("run", None):
        place = run.inputs["run"]
        if (found := _found(place, lambda path: (path / "run.json").is_file())) is None:
            raise InputError(
                f"{folder}: the run of this audit, {plain(place.given, 300)}, is not there. "
                f"Run this where the audit was run, or {otherwise}"
            )
        scored = _of_run(found, trained.sha256)
        del read["predictions"]
    return {**scored, **_tables_of(folder, read, run, otherwise)}


def _run_of(folder: Path, id: str, otherwise: str = BY_TABLES) -> AuditRun:
    """Where the tables of an audit are."""
    from fairrec.result.saved import load_audit_run

    run = load_audit_run(folder, id)
    if run is None:
        raise InputError(
            f"{folder}: has no run.json, which says where the tables of this audit are: it is not "
            f"passed on with a result. Audit again, or {otherwise}"
        )
    return run


def _tables_of(
    folder: Path, read: Mapping[str, InputSummary], run: AuditRun, otherwise: str = BY_TABLES
) -> dict[str, Path]:
    """The tables that an audit read, by their names; they must be as they were."""
    from fairrec.inputs.formats import checksum, files_of

    tables = {}
    for name, table in read.items():
        if name not in run.inputs:
            raise InputError(
                f"{folder}: the {name} table of this audit was in memory, so it cannot be read "
                f"again. Audit files, or {otherwise}"
            )
        place = run.inputs[name]
        if (found := _found(place, lambda path: bool(files_of(path)))) is None:
            raise InputError(
                f"{folder}: the {name} table of this audit, {plain(place.given, 300)}, is not "
                f"there. Run this where the audit was run, or {otherwise}"
            )
        if checksum(found) != table.sha256:
            raise InputError(
                f"{folder}: {plain(found, 300)} has changed since this audit. Audit again, or name "
                "the tables."
            )
        tables[name] = found
    return tables


def _found(place: Place, is_there: Callable[[Path], bool]) -> Path | None:
    """Where it was, or where the path as it was given leads to from here."""
    paths = (Path(place.absolute), Path(place.given))
    return next((path for path in paths if is_there(path)), None)
