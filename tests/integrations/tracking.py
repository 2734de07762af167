"""A tracking store of MLflow in a folder, and none of its outside calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """MLflow, set to a fresh store in `tmp_path`; without it the test is skipped."""
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    # newer versions ask for it: without a data base a folder is the only local store
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "mlruns").as_uri())
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    monkeypatch.setenv("GIT_PYTHON_REFRESH", "quiet")
    found = pytest.importorskip(
        "mlflow", reason="MLflow is not installed: pip install 'fairrec[mlflow]'"
    )
    # what a test sets would be found by the next one
    monkeypatch.setattr(found.tracking.fluent, "_active_experiment_id", None)
    monkeypatch.setenv("MLFLOW_EXPERIMENT_ID", "0")
    # and what a document sets that ran before
    found.set_tracking_uri((tmp_path / "mlruns").as_uri())
    return found
