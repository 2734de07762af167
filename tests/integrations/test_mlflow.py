"""Audits in a real tracking store of MLflow, in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.core.errors import InputError, OutputError
from fairrec.integrations.mlflow import (
    audit_numbers,
    audit_tags,
    log_audit,
)
from fairrec.report.audit_result import AuditResult
from tests.builders import audit, two_groups
from tests.grouped_options import group_options
from tests.mitigation.planted import mitigate as mitigate_world
from tests.mitigation.planted import planted

SECRET = "s3cr3t-pass"


def worse_off(**options: Any) -> AuditResult:
    """Odd users have MRR 1/2, even ones 1."""
    usual = {"metrics": "mrr@2,urp@2", "tolerance": "mrr@2=0.1", "permutations": 199, "seed": 3}
    predictions, users = two_groups(80)
    history = predictions.select("user_id", "item_id")
    return audit(predictions, users, "group", history=history, **{**usual, **options})


def artifacts(mlflow: Any, run_id: str) -> set[str]:
    client = mlflow.MlflowClient()
    return {Path(one.path).name for one in client.list_artifacts(run_id, "fairrec")}


def test_a_run_has_numbers_settings_verdict_and_files(mlflow, tmp_path):
    result = worse_off(title="Spring", model_name="ranker", model_version="2")
    run = mlflow.get_run(log_audit(result))
    assert run.info.status == "FINISHED"
    assert run.info.run_name == "Spring"
    metrics, found = run.data.metrics, result.metrics["mrr@2"]
    assert metrics == pytest.approx(audit_numbers(result))
    assert metrics["fairrec/mrr_at_2/mean"] == 0.75
    assert metrics["fairrec/mrr_at_2/n_worse_beyond_tolerance"] == 1
    assert metrics["fairrec/mrr_at_2/gap"] == found.gap
    assert metrics["fairrec/n_users"] == 80
    params = run.data.params
    assert params["fairrec.by"] == "group"
    assert (params["fairrec.alpha"], params["fairrec.seed"]) == ("0.05", "3")
    assert params["fairrec.tolerance"] == "mrr@2=0.1"
    assert params["fairrec.version"] == fairrec.__version__
    tags = run.data.tags
    assert tags["fairrec.outcome"] == tags["fairrec.outcome.mrr_at_2"] == "worse beyond tolerance"
    assert tags["fairrec.headline"].startswith("group=odd is served worse")
    assert tags["fairrec.model"] == "ranker@2"
    assert artifacts(mlflow, run.info.run_id) == {"result.json", "groups.parquet", "report.html"}
    # and what comes back is the audit
    fetched = mlflow.artifacts.download_artifacts(
        run_id=run.info.run_id, artifact_path="fairrec", dst_path=str(tmp_path / "back")
    )
    assert fairrec.load(fetched).summary == result.summary


def test_rows_of_users_are_logged_only_when_asked_for_and_paths_never(mlflow):
    asked = artifacts(mlflow, log_audit(worse_off(), per_user=True))
    assert "per_user.parquet" in asked and "run.json" not in asked
    result = mitigate_world(planted(), "ndcg@5")
    run_id = log_audit(result)
    assert artifacts(mlflow, run_id) == {
        *("result.json", "groups.parquet", "report.html"),
        *("mitigation.json", "reranker.json", "changes.parquet"),
    }
    logged = mlflow.get_run(run_id).data.metrics
    assert logged == pytest.approx(audit_numbers(result.audit))


def test_an_audit_goes_to_the_active_run_to_one_named_or_to_an_experiment(mlflow, tmp_path):
    result = worse_off()
    with mlflow.start_run() as active:
        assert log_audit(result) == active.info.run_id
        # which is not ended by it
        assert mlflow.active_run() is not None
        other = mlflow.MlflowClient().create_run("0").info.run_id
        assert log_audit(result, other) == other
        assert mlflow.get_run(other).info.status == "RUNNING"
    ids = {log_audit(result, experiment="audits") for _ in range(2)}
    of_experiment = {
        mlflow.get_experiment(mlflow.get_run(one).info.experiment_id).name for one in ids
    }
    assert len(ids) == 2 and of_experiment == {"audits"}
    mlflow.set_experiment("set before")
    experiment = mlflow.get_run(log_audit(result)).info.experiment_id
    assert mlflow.get_experiment(experiment).name == "set before"
    elsewhere = (tmp_path / "elsewhere").as_uri()
    run_id = log_audit(result, tracking_uri=elsewhere)
    run = mlflow.MlflowClient(tracking_uri=elsewhere).get_run(run_id)
    assert (
        run.info.status == "FINISHED"
        and run.data.tags["fairrec.outcome"] == "worse beyond tolerance"
    )


def test_what_cannot_be_logged_is_an_error_in_words(mlflow, monkeypatch):
    result = worse_off()
    with pytest.raises(InputError, match="a run has its experiment already"):
        log_audit(result, "abc", experiment="audits")
    with pytest.raises(OutputError, match=r"MLflow: .*not found"):
        log_audit(result, "no-such-run")
    run_id = log_audit(result)
    assert log_audit(result, run_id) == run_id
    with pytest.raises(OutputError, match=r"fairrec\.seed"):
        log_audit(worse_off(seed=4), run_id)
    monkeypatch.setattr("fairrec.integrations.mlflow._log", _fails)
    for experiment in (None, "audits"):
        with pytest.raises(OutputError, match="disk is full"):
            log_audit(result, experiment=experiment)
    runs = mlflow.search_runs(search_all_experiments=True, output_format="list")
    assert sorted(run.info.status for run in runs) == ["FAILED", "FAILED", "FINISHED"]


def _fails(*_: object) -> None:
    raise OutputError("the disk is full")


def test_a_server_that_is_not_there_is_told_of_without_its_password(mlflow, capfd):
    address = f"http://ann:{SECRET}@127.0.0.1:9/path?key={SECRET}"
    with pytest.raises(OutputError, match="MLflow: ") as caught:
        log_audit(worse_off(), tracking_uri=address)
    told = "".join(capfd.readouterr()) + str(caught.value)
    assert "127.0.0.1" in told and SECRET not in told
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("password", ["p@s3cret", "s3/cret"])
def test_a_password_is_blanked_whatever_it_holds(mlflow, password):
    with pytest.raises(OutputError) as error:
        log_audit(worse_off(), tracking_uri=f"http://ann:{password}@127.0.0.1:9/")
    assert "cret" not in str(error.value)


def test_without_mlflow_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "mlflow", None)
    with pytest.raises(InputError, match=r"pip install 'fairrec\[mlflow\]'"):
        log_audit(audit(*two_groups(), by="group"))


def skewed(**options: object) -> AuditResult:
    rng = np.random.default_rng(5)
    group = np.repeat(["a", "b", "c"], 100)
    values = pl.DataFrame(
        {"user_id": range(300), "stars": rng.normal(3, 1, 300) - (group == "c") * 1.0}
    )
    users = pl.DataFrame({"user_id": range(300), "group": group})
    usual = {"permutations": 199, "seed": 1}
    return fairrec.audit(
        **group_options(values=values, users=users, by="group", **{**usual, **options})
    )


@pytest.mark.parametrize("better", ["stars=higher", "stars=lower"])
def test_the_harm_shown_exceeds_what_matters_where_the_verdict_says_so(better):
    numbers = audit_numbers(skewed(better=better))
    shown = numbers["fairrec/stars/harm_shown"]
    assert shown > 0
    for tolerance in (shown * 0.8, shown * 1.2):
        verdict = skewed(better=better, tolerance=f"stars={tolerance}").verdict.metrics["stars"]
        assert (verdict.n_worse_beyond_tolerance > 0) is (shown > tolerance)
    either_way = numbers["fairrec/stars/difference_shown"]
    neutral = audit_numbers(skewed())
    assert either_way == neutral["fairrec/stars/difference_shown"] >= shown
    assert "fairrec/stars/harm_shown" not in neutral


def test_the_harm_that_is_not_ruled_out_is_that_of_the_certificate():
    result = skewed(better="stars=higher")
    numbers, certificate = audit_numbers(result), result.verdict.metrics["stars"].certificate
    assert numbers["fairrec/stars/harm_not_ruled_out"] == certificate[0].harm
    assert numbers["fairrec/stars/harm_not_ruled_out_from_100"] == certificate[0].harm
    # no group has so many users
    assert "fairrec/stars/harm_not_ruled_out_from_1000" not in numbers


def test_nobody_worse_is_no_harm_and_nothing_tested_is_no_number():
    alike = audit(*two_groups(8, group=["a", "a", "b", "b"] * 2), by="group", metrics="mrr@2")
    assert audit_numbers(alike)["fairrec/mrr_at_2/harm_shown"] == 0
    untested = audit(*two_groups(), by="group", permutations=0)
    assert not any(name.endswith("shown") for name in audit_numbers(untested))
    assert audit_tags(untested.summary)["fairrec.outcome"] == "not tested"
