"""Audits in a real tracking store of MLflow, in a folder."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.core.errors import InputError, OutputError
from fairrec.integrations.mlflow import (
    audit_numbers,
    audit_settings,
    audit_tags,
    log_audit,
    metric_keys,
    metric_thresholds,
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


def test_checksums_of_the_tables_are_settings(mlflow, tmp_path):
    predictions, users = two_groups()
    predictions.write_parquet(tmp_path / "p.parquet")
    users.write_parquet(tmp_path / "u.parquet")
    result = audit(tmp_path / "p.parquet", tmp_path / "u.parquet", "group")
    params = mlflow.get_run(log_audit(result)).data.params
    assert params["fairrec.sha256.users"] == result.summary.inputs["users"].sha256
    assert len(params["fairrec.sha256.predictions"]) == 64


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
    monkeypatch.setattr("fairrec.integrations.mlflow._files", _fails)
    for experiment in (None, "audits"):
        with pytest.raises(OutputError, match="disk is full"):
            log_audit(result, experiment=experiment)
    runs = mlflow.search_runs(search_all_experiments=True, output_format="list")
    assert sorted(run.info.status for run in runs) == ["FAILED", "FAILED", "FINISHED"]


def _fails(*_: object) -> None:
    raise OutputError("the disk is full")


def rules(*given: dict[str, Any]) -> dict[str, Any]:
    return {"rule": [*given]}


def test_limits_are_checked_by_mlflow_as_the_gate_does(mlflow):
    result = worse_off()
    logged = mlflow.get_run(log_audit(result)).data.metrics
    shown = logged["fairrec/mrr_at_2/harm_shown"]
    assert 0.1 < shown < 0.5
    candidate = mlflow.models.EvaluationResult(metrics=logged, artifacts={})
    other = {"metric": "urp@2", "max_difference": 1.0}
    for limit, outcome in ((shown + 0.01, None), (shown - 0.01, "failed")):
        policy = rules({"metric": "mrr@2", "max_worse": limit}, other)
        thresholds = metric_thresholds(result, policy)
        assert {*thresholds} == {
            *("fairrec/mrr_at_2/harm_shown", "fairrec/urp_at_2/difference_shown")
        }
        assert (fairrec.gate(result, policy).outcome == "failed") is (outcome == "failed")
        if outcome is None:
            mlflow.validate_evaluation_results(thresholds, candidate)
            continue
        with pytest.raises(mlflow.exceptions.MlflowException, match="harm_shown"):
            mlflow.validate_evaluation_results(thresholds, candidate)


def test_of_two_limits_the_tighter_one_is_asked_for_and_warnings_are_not(mlflow):
    rule = {"metric": "mrr@2", "max_worse": 0.2}
    policy = rules({**rule, "max_worse": 0.3}, rule, {**rule, "max_worse": 0.1, "severity": "warn"})
    ((key, threshold),) = metric_thresholds(worse_off(), policy).items()
    assert (key, threshold.threshold) == ("fairrec/mrr_at_2/harm_shown", 0.2)
    assert threshold.greater_is_better is False
    required = metric_thresholds(worse_off(), {**rules(rule), "require": {"max_undefined": 0.2}})
    assert required["fairrec/mrr_at_2/undefined_share"].threshold == 0.2
    # without a limit it is what matters
    ((_, threshold),) = metric_thresholds(worse_off(), rules({"metric": "mrr@2"})).items()
    assert threshold.threshold == 0.1


@pytest.mark.parametrize(
    "rule",
    [{"min_ratio": 0.8}, {"max_worse": 0.1, "groups": ["group=odd"]}],
)
def test_a_rule_that_is_about_no_single_number_is_refused(mlflow, rule):
    with pytest.raises(InputError, match=r"rule 1 .* Leave it to fairrec gate"):
        metric_thresholds(worse_off(), rules({"metric": "mrr@2", **rule}))


def test_a_server_that_is_not_there_is_told_of_without_its_password(mlflow, capfd):
    address = f"http://ann:{SECRET}@127.0.0.1:9/path?key={SECRET}"
    with pytest.raises(OutputError, match="MLflow: ") as caught:
        log_audit(worse_off(), tracking_uri=address)
    told = "".join(capfd.readouterr()) + str(caught.value)
    assert "127.0.0.1" in told and SECRET not in told
    assert caught.value.__cause__ is None


class Tracker(BaseHTTPRequestHandler):
    """As much of a tracking server as a run needs; its artifacts are a folder here."""

    folder = ""
    asked: tuple[str, ...] = ()

    def do_POST(self) -> None:
        """Take anything."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self._reply()

    def do_GET(self) -> None:
        """Tell of the one run."""
        self._reply()

    def _reply(self) -> None:
        Tracker.asked = (*Tracker.asked, self.path.partition("?")[0].rpartition("mlflow/")[2])
        info = {
            **{"run_id": "r1", "run_uuid": "r1", "run_name": "n", "experiment_id": "0"},
            **{"status": "RUNNING", "artifact_uri": Path(self.folder).as_uri()},
        }
        data = {"run": {"info": info, "data": {}}, "run_info": info}
        body = json.dumps(data).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextmanager
def tracker(folder: Path) -> Iterator[str]:
    Tracker.folder, Tracker.asked = str(folder), ()
    with ThreadingHTTPServer(("127.0.0.1", 0), Tracker) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://ann:{SECRET}@127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_server_gets_all_of_it_and_its_address_is_not_printed(mlflow, tmp_path, capfd):
    with tracker(tmp_path / "store") as address:
        assert log_audit(worse_off(), tracking_uri=address) == "r1"
    assert {"runs/create", "runs/log-batch", "runs/update"} <= {*Tracker.asked}
    assert (tmp_path / "store" / "fairrec" / "report.html").is_file()
    assert "".join(capfd.readouterr()) == ""


@pytest.mark.parametrize("password", ["s3cret", "p@s3cret", "s3/cret", "s3cret?x"])
def test_a_password_is_blanked_whatever_it_holds(mlflow, password):
    with pytest.raises(OutputError) as error:
        log_audit(worse_off(), tracking_uri=f"http://ann:{password}@127.0.0.1:9/")
    assert "cret" not in str(error.value)


def test_an_address_that_is_none_is_told_without_its_password(mlflow):
    with pytest.raises(OutputError, match="MLflow: ") as error:
        log_audit(worse_off(), tracking_uri="http://ann:s3cret@[::bad")
    assert "s3cret" not in str(error.value)


def test_the_folder_of_a_result_is_to_be_loaded_first(mlflow):
    with pytest.raises(InputError, match=r"fairrec\.load it"):
        log_audit("folder")


def test_a_token_with_a_line_break_is_blanked(mlflow, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", "s3cret\n")
    with pytest.raises(OutputError) as error:
        log_audit(worse_off(), tracking_uri="http://127.0.0.1:9/")
    assert "s3cret" not in str(error.value)


def test_without_mlflow_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "mlflow", None)
    with pytest.raises(InputError, match=r"pip install 'fairrec\[mlflow\]'"):
        log_audit(audit(*two_groups(), by="group"))


def test_a_metric_of_any_name_is_logged(mlflow):
    names = ["ndcg@10", "../x", ".", "a/b", "a b (s)", "Zufriedenheit ü", "x" * 300, "x" * 299]
    values = pl.DataFrame(
        {"user_id": range(40), **{name: [i % 7 / 7 for i in range(40)] for name in names}}
    )
    users = pl.DataFrame({"user_id": range(40), "g": ["a", "b"] * 20})
    result = fairrec.audit(
        values=values, users=users, by="g", statistics=fairrec.Statistics(permutations=39)
    )
    logged = mlflow.get_run(log_audit(result)).data.metrics
    assert sum(name.endswith("/mean") for name in logged) == len(names)


def test_every_metric_has_a_name_of_its_own_that_is_no_path():
    names = ["a", "a@1", "a_at_1", "a/1", "..", ".", "", "x" * 500, "x" * 501, "a:b", "\n"]
    keys = metric_keys(names)
    assert len({*keys.values()}) == len(names)
    assert keys["a@1"] == "a_at_1" and keys["a_at_1"] == "a_at_1_2"
    for key in keys.values():
        assert key and "/" not in key and not key.startswith(".") and len(key) < 120


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


def test_long_settings_are_cut_and_empty_ones_left_out():
    columns = {f"attribute_{i:02d}_{'x' * 60}": ["a", "b"] * 4 for i in range(12)}
    settings = audit_settings(audit(*two_groups(8, **columns), by=[*columns], depth=1).summary)
    assert len(settings["fairrec.by"]) <= 500
    assert "fairrec.tolerance" not in settings and "fairrec.given" not in settings
    assert settings["fairrec.depth"] == "1"
