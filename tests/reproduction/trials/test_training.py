from __future__ import annotations

from types import SimpleNamespace

from fairrec.reproduction.trials.training import training_trial
from tests.reproduction.trial_rows import silent


def test_the_row_is_what_the_run_recorded():
    epochs = [SimpleNamespace(seconds=1.5), SimpleNamespace(seconds=2.0)]
    record = SimpleNamespace(
        holdout_loss=0.4, holdout_auc=0.9, n_train=100, epochs=epochs, test={"auc": 0.8}
    )
    subject = SimpleNamespace(
        model="dcn", trained=lambda progress: record, identity=lambda progress: {"model": "dcn"}
    )
    trial = training_trial(subject, {"dataset": "lfm360k"})
    expected = {"loss": 0.4, "auc": 0.9, "n_train": 100, "epochs": 2, "seconds": 3.5}
    assert trial.work(silent) == [{**expected, "test_auc": 0.8}]
    assert trial.about(silent) == {"model": "dcn"}
    assert trial.name == "lfm360k: training dcn"
