"""The quality of a trained model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairrec.core.progress import Progress
from fairrec_paper.reproduction.subject import Subject
from fairrec_paper.reproduction.trials.trial import Row, Trial


def training_trial(subject: Subject, labels: Mapping[str, Any]) -> Trial:
    """Loss and AUC of a trained model: one row."""

    def work(progress: Progress) -> list[Row]:
        record = subject.trained(progress)
        assert record.holdout_loss is not None
        return [
            {
                "loss": record.holdout_loss,
                "loss_with_penalty": record.holdout_loss + record.penalty,
                "auc": record.holdout_auc,
                "n_train": record.n_train,
                "epochs": len(record.epochs),
                "best_epoch": record.best_epoch,
                "seconds": sum(epoch.seconds for epoch in record.epochs),
                **{f"test_{name}": value for name, value in record.test.items()},
            }
        ]

    def about(progress: Progress) -> dict[str, Any]:
        return {**subject.identity(progress)}

    name = f"{labels['dataset']}: training {subject.folder.name}"
    return Trial("training", name, about, work, labels)
