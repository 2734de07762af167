"""What a saved audit or run says of itself, as options to audit, mitigate or plan by."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairrec.core.errors import InputError, plain
from fairrec.core.options import list_options
from fairrec.inputs.table_options import TableOptions

if TYPE_CHECKING:
    from fairrec.result.folder import Place
    from fairrec.result.schema import AuditSummary

BY_TABLES = "name the tables: fairrec mitigate PREDICTIONS --users USERS --by ..."
TO_PLAN = "name the tables: fairrec plan --users USERS --by ... --metrics ..."


def audit_options(summary: AuditSummary) -> dict[str, Any]:
    """The options of an audit as far as its result has them, in the forms of a settings file."""
    from fairrec.metrics.value_columns import find_metric
    from fairrec.result.summary import result_options

    options: dict[str, Any] = {
        **result_options(summary),
        "by": [*summary.by],
        "metrics": [*summary.metrics],
        "columns": dict(summary.columns or {}),
        "adjust_for": [*summary.adjustment.named] if summary.adjustment else [],
    }
    better = {}
    for name, about in summary.metrics.items():
        known = find_metric(name)
        is_without = known is not None and known.higher_is_better is None
        is_own = "values" in summary.inputs or ("predictions" in summary.inputs and is_without)
        if is_own and about.higher_is_better is not None:
            better[name] = "higher" if about.higher_is_better else "lower"
    options["better"] = better
    return {name: value for name, value in options.items() if value not in (None, [], {}, "")}


def read_mitigation_settings(source: Path) -> dict[str, Any]:
    """What a run or an audit says about itself, as arguments of `mitigate`."""
    # an audit has a run.json too, and a trained run may have an older audit beside it
    is_audit = (source / "result.json").is_file()
    if (source / ("model.safetensors" if is_audit else "run.json")).is_file():
        return _read_run(source)
    if is_audit:
        return _read_audit(source)
    if not source.exists():
        raise InputError(f"{source}: there is no such folder or table.")
    if source.is_dir():
        raise InputError(
            f"{source}: holds neither an audit (result.json) nor a trained run (run.json)."
        )
    return {"predictions": source}


def _read_run(folder: Path, sha256: str | None = None) -> dict[str, Any]:
    from fairrec.core.files import file_sum
    from fairrec.scoring.model import load_run

    run = load_run(folder)
    if sha256 is not None and file_sum(folder / "model.safetensors") != sha256:
        raise InputError(f"{folder}: was trained again since it was audited. Audit the run again.")
    return {
        "predictions": run.predictions("test"),
        "validation": run.predictions("validation"),
        **run.tables(),
    }


def _read_audit(folder: Path) -> dict[str, Any]:
    """The tables an audit read, where they are still as they were, and its options."""
    from fairrec.result.folder import load_saved

    summary, id = load_saved(folder)
    refused = {
        f"is an audit of {summary.unit.many}, and lists are re-ranked for groups of users": (
            not summary.unit.is_users
        ),
        "holds a mitigation; the audit or the run it was made from can be named": (
            (folder / "mitigation.json").exists()
        ),
        "a model was asked for the scores of this audit; write them to a table": (
            bool(summary.search.model_identity) and "run" not in summary.inputs
        ),
        "this audit is of values per user. There are no lists to re-rank": (
            "values" in summary.inputs
        ),
    }
    if why := next((why for why, is_so in refused.items() if is_so), None):
        raise InputError(f"{folder}: {why}. Otherwise {BY_TABLES}")
    same = ("by", "columns", "relevant", "gain", "missing_lists", "depth", "permutations", "alpha")
    options: dict[str, Any] = {
        **{name: getattr(summary, name) for name in (*same, "seed", "title", "author")},
        "metrics": [name for name, result in summary.metrics.items() if result.sd is not None],
        "min_support": summary.coverage.min_support,
    }
    if summary.model is not None:
        options |= {"model_name": summary.model.name, "model_version": summary.model.version}
    return {**_read_tables(folder, summary, id, BY_TABLES), **options}


def read_plan_settings(folder: Path) -> dict[str, Any]:
    """What an audit says of itself, as arguments of `plan`, with its users as a pilot."""
    from fairrec.result.folder import load_saved

    summary, id = load_saved(folder)
    tables = _read_tables(folder, summary, id, TO_PLAN)
    found = {
        **audit_options(summary),
        **{name: tables[name] for name in list_options(TableOptions) if name in tables},
        # attributes may stand beside the values
        "users": tables.get("users", tables.get("values")),
        "metrics": [name for name, result in summary.metrics.items() if result.sd is not None],
    }
    pilot = folder / "per_user.parquet"
    if pilot.is_file():
        found["pilot"] = pilot
    elif len(found["metrics"]) == 1:
        about = summary.metrics[found["metrics"][0]]
        found |= {"mean": about.mean, "sd": about.sd}
    return {name: value for name, value in found.items() if value}


def _read_tables(folder: Path, summary: AuditSummary, id: str, otherwise: str) -> dict[str, Any]:
    """The tables that an audit read, which must be as they were, and what its run scored.

    Parameters
    ----------
    otherwise : what to do where they cannot be read again
    """
    from fairrec.inputs.formats import checksum, list_files
    from fairrec.result.folder import load_audit_run

    run = load_audit_run(folder, id)
    tables: dict[str, Any] = {}
    for name, table in summary.inputs.items():
        what = "the run" if name == "run" else f"the {name} table"
        if name == "predictions" and "run" in summary.inputs:
            continue
        if run is None or name not in run.inputs:
            raise InputError(
                f"{folder}: where {what} of this audit is, is not known: it was in memory, or "
                f"run.json is not there. Audit files, or {otherwise}"
            )
        place: Place = run.inputs[name]
        # where it was, or where the path as it was given leads to from here
        paths = map(Path, (place.absolute, place.given))
        is_there = (lambda path: (path / "run.json").is_file()) if name == "run" else list_files
        found = next(filter(is_there, paths), None)
        if found is None:
            raise InputError(
                f"{folder}: {what} of this audit, {plain(place.given, 300)}, is not there. "
                f"Run this where the audit was run, or {otherwise}"
            )
        if name == "run":
            tables = {**_read_run(found, table.sha256), **tables}
        elif checksum(found) != table.sha256:
            raise InputError(
                f"{folder}: {plain(found, 300)} has changed since this audit. Audit again, or name "
                "the tables."
            )
        else:
            tables[name] = found
    return tables
