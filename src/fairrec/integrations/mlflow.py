"""An audit in a run of MLflow: numbers, settings, verdict, files and the page."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import time
from typing import Any

import numpy as np

from fairrec.auditing.harms import difference_harms
from fairrec.auditing.saved_audits import resolve_audit
from fairrec.core.errors import FairRecError, InputError, OutputError, plain
from fairrec.core.options import spell
from fairrec.integrations.card import refuse_no_result
from fairrec.mitigation.result import MitigationResult
from fairrec.report.audit_result import AuditResult
from fairrec.report.view import about_model, build_view
from fairrec.result.schema import AuditSummary
from fairrec.scoring.endpoint import Secrets
from fairrec.statistics.verdict import is_shown_worse

PREFIX = "fairrec"
_OF_METRIC = ("mean", "sd", "gap", "n_groups", "n_defined", "undefined_share")
_OF_VERDICT = (
    *("tolerance", "n_worse_beyond_tolerance", "n_worse", "n_better", "n_within_tolerance"),
    *("n_inconclusive", "n_not_compared", "ruled_out_from"),
)
SIZES_CERTIFIED = (100, 1000)
_LONGEST_VALUE, _LONGEST_ERROR = 500, 800
"""Trackers refuse longer values."""
_PER_USER = ("per_user.parquet", "predictions.parquet")


def metric_key(metric: str) -> str:
    """The name of a metric in letters that trackers take.

    >>> metric_key("ndcg@10"), metric_key("time (s)")
    ('ndcg_at_10', 'time _s_')
    """
    return re.sub(r"[^\w.\- ]", "_", metric.replace("@", "_at_"))[:100]


def audit_numbers(result: AuditResult) -> dict[str, float]:
    """All numbers, by full name; what is not known has none."""
    found: dict[str, float | None] = {f"{PREFIX}/n_users": result.summary.n_users}
    for metric, about in result.metrics.items():
        numbers = {name: getattr(about, name) for name in _OF_METRIC}
        numbers["n_findings"] = len(about.findings)
        if (verdict := about.verdict) is not None:
            numbers |= {name: getattr(verdict, name) for name in _OF_VERDICT}
            for size in (0, *SIZES_CERTIFIED):
                harms = (point.harm for point in verdict.certificate if point.support >= size)
                name = f"harm_not_ruled_out_from_{size}" if size else "harm_not_ruled_out"
                numbers[name] = next(harms, None)
        if about.higher_is_better is not None:
            numbers["harm_shown"] = _shown(metric, result, either_way=False)
        numbers["difference_shown"] = _shown(metric, result, either_way=True)
        found |= {f"{PREFIX}/{metric_key(metric)}/{name}": value for name, value in numbers.items()}
    return {
        name: float(value)
        for name, value in found.items()
        if value is not None and math.isfinite(value)
    }


def _shown(metric: str, result: AuditResult, *, either_way: bool) -> float | None:
    """The largest harm that some group is shown to have at least; 0 where none is shown worse.

    It exceeds a limit where a group is worse by more than the limit, in the sense of the verdict
    and of the gate. None where nothing was tested, and where groups are hidden.

    Parameters
    ----------
    either_way : whether a difference counts in both directions, whatever is better
    """
    if result.metrics[metric].verdict is None or result.summary.hidden:
        return None
    harms = difference_harms(result.group_table, result.summary, metric, either_way=either_way)
    is_worse = is_shown_worse(harms.size, harms.is_beyond_chance, harms.is_known)
    return float(np.max(harms.interval.low[is_worse], initial=0.0))


def audit_settings(summary: AuditSummary) -> dict[str, str]:
    """The options and the data: the same for the same audit."""
    asked = {
        "by": ", ".join(summary.by),
        "metrics": ", ".join(summary.metrics),
        "depth": summary.depth,
        "min_users": summary.coverage.min_users,
        "alpha": summary.alpha,
        "permutations": summary.permutations,
        "tolerance": summary.tolerance,
        "adjust_for": None if summary.adjustment is None else ", ".join(summary.adjustment.named),
        "seed": summary.seed,
        "version": summary.fairrec_version,
        **{f"sha256.{name}": table.sha256 for name, table in summary.inputs.items()},
    }
    return {
        f"{PREFIX}.{name}": plain(value, _LONGEST_VALUE)
        for name, value in asked.items()
        if value not in (None, "")
    }


def audit_tags(summary: AuditSummary) -> dict[str, str]:
    """The verdict in words: of the audit, of each metric, and the headline of its page."""
    texts = {
        "outcome": summary.outcome or "not tested",
        "headline": build_view(summary).answer.headline,
        "title": summary.title,
        "model": about_model(summary),
        **{
            f"outcome.{metric_key(metric)}": about.verdict.outcome
            for metric, about in summary.metrics.items()
            if about.verdict is not None
        },
    }
    return {f"{PREFIX}.{name}": plain(text, _LONGEST_VALUE) for name, text in texts.items() if text}


def log_audit(
    result: AuditResult | MitigationResult,
    run_id: str | None = None,
    *,
    tracking_uri: str | None = None,
    experiment: str | None = None,
    per_user: bool = False,
) -> str:
    """Log an audit to a run of MLflow and give the id of the run.

    Numbers go to metrics (`fairrec/ndcg_at_10/harm_shown`), what was asked for to params
    (`fairrec.by`), outcomes to tags (`fairrec.outcome`), and `result.json`, `groups.parquet` and
    `report.html` to the artifacts under `fairrec/`. Of a mitigation it is the audit of the
    re-ranked lists, with the files of the mitigation. `run.json` stays here: it has your paths.

    Parameters
    ----------
    run_id : a run to log to; None for the one that is active, else a new one
    tracking_uri : None for that of MLflow, such as in MLFLOW_TRACKING_URI
    experiment : of a new run; it is made where there is none of this name
    per_user : whether files with a row for each user are logged too
    """
    refuse_no_result(result)
    mlflow = _mlflow()
    if run_id is not None and experiment is not None:
        raise InputError(
            f"{spell('run_id')} and {spell('experiment')}: a run has its experiment already. "
            "Give one of the two."
        )
    audit, _ = resolve_audit("result", result)
    with _errors_in_words(mlflow, tracking_uri):
        client = mlflow.MlflowClient(tracking_uri=tracking_uri)
        is_default = experiment is None and tracking_uri is None
        if run_id is None and is_default and (active := mlflow.active_run()) is not None:
            run_id = active.info.run_id
        if run_id is not None:
            _log(client, run_id, result, audit, per_user)
            return run_id
        name = plain(audit.summary.title or about_model(audit.summary) or "fairrec audit")
        if is_default:
            with mlflow.start_run(run_name=name) as run:
                _log(client, run.info.run_id, result, audit, per_user)
            return str(run.info.run_id)
        found = client.get_experiment_by_name(experiment or "Default")
        experiment_id = found.experiment_id if found else client.create_experiment(experiment)
        new: str = client.create_run(experiment_id, run_name=name).info.run_id
        ending = "FAILED"
        try:
            _log(client, new, result, audit, per_user)
            ending = "FINISHED"
        finally:
            client.set_terminated(new, ending)
        return new


def _mlflow() -> Any:
    try:
        import mlflow
        import mlflow.models
    except ModuleNotFoundError as error:
        raise InputError(f"MLflow needs {error.name}: pip install 'fairrec[mlflow]'") from error
    return mlflow


def _log(
    client: Any,
    run_id: str,
    result: AuditResult | MitigationResult,
    audit: AuditResult,
    per_user: bool,
) -> None:
    """Log what may leave this machine."""
    from mlflow.entities import Metric, Param, RunTag

    now = int(time() * 1000)
    numbers, tags = audit_numbers(audit).items(), audit_tags(audit.summary).items()
    # a run keeps its params for ever, so those of another audit are an error before all else
    settings = audit_settings(audit.summary).items()
    client.log_batch(run_id, params=[Param(*param) for param in settings])
    client.log_batch(run_id, metrics=[Metric(*number, now, 0) for number in numbers])
    client.log_batch(run_id, tags=[RunTag(*tag) for tag in tags])
    with TemporaryDirectory(prefix="fairrec-") as folder:
        part = Path(folder, "out")
        if isinstance(result, MitigationResult):
            replace(result, audit=replace(result.audit, run=None)).save(part)
        else:
            replace(result, run=None).save(part)
        for name in () if per_user else _PER_USER:
            (part / name).unlink(missing_ok=True)
        client.log_artifacts(run_id, str(part), PREFIX)


@contextmanager
def _errors_in_words(mlflow: Any, tracking_uri: str | None) -> Iterator[None]:
    """Neither MLflow's errors nor its links show what is secret in the address of a server."""
    quiet = "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT"
    before = os.environ.get(quiet)
    os.environ[quiet] = "true"
    try:
        yield
    except FairRecError:
        raise
    # an address that is none is a ValueError
    except (mlflow.exceptions.MlflowException, OSError, ValueError) as error:
        uri = tracking_uri or os.environ.get("MLFLOW_TRACKING_URI", "")
        text = _without_secrets(str(error), uri)
        # one with a secret is not shown where an error comes from either
        raise OutputError(f"MLflow: {plain(text, _LONGEST_ERROR)}") from (
            error if text == str(error) else None
        )
    finally:
        os.environ.pop(quiet)
        os.environ.update({} if before is None else {quiet: before})


def _without_secrets(text: str, tracking_uri: str) -> str:
    """Text without user name, password, query and token of the tracking server."""
    # a password may hold any sign, so all up to the last @ is taken for it
    login = tracking_uri.partition("//")[2].rpartition("@")[0]
    text = text.replace(f"{login}@", "***@") if login else text
    for name in ("TOKEN", "PASSWORD"):
        token = os.environ.get(f"MLFLOW_TRACKING_{name}", "")
        text = Secrets(tracking_uri.partition("?")[2], token).redact(text)
    return text
