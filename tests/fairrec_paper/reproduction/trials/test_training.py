from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from fairrec_paper.reproduction.trained_models import training_trial
from tests.fairrec_paper.reproduction.trial_rows import silent


def test_the_row_is_what_the_run_recorded():
    epochs = [SimpleNamespace(seconds=1.5), SimpleNamespace(seconds=2.0)]
    record = SimpleNamespace(
        holdout_loss=0.4,
        penalty=0.05,
        holdout_auc=0.9,
        n_train=100,
        epochs=epochs,
        best_epoch=1,
        test={"auc": 0.8},
    )
    subject = SimpleNamespace(
        model="dcn",
        folder=Path("runs/lfm-dcn-seed1"),
        trained=lambda progress: record,
        identity=lambda progress: {"model": "dcn"},
    )
    trial = training_trial(subject, {"dataset": "lfm360k"})
    expected = {"loss": 0.4, "auc": 0.9, "n_train": 100, "epochs": 2, "seconds": 3.5}
    more = {"loss_with_penalty": pytest.approx(0.45), "best_epoch": 1, "test_auc": 0.8}
    assert trial.work(silent) == [{**expected, **more}]
    assert trial.identity(silent) == {"kind": "training", "model": "dcn"}
    assert trial.name == "lfm360k: training lfm-dcn-seed1"
