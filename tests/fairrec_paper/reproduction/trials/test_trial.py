"""Finished trials are kept, and only what determines a trial decides whether it is the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairrec.core.errors import InputError, OutputError
from fairrec_paper.reproduction.experiment import Trial, TrialStore, run_trials
from tests.fairrec_paper.reproduction.trial_rows import silent


class Work:
    """A trial that counts how often it is worked out."""

    def __init__(self) -> None:
        self.times = 0

    def trial(self, seed: int = 0, kind: str = "search", **labels: object) -> Trial:
        def work(progress):
            self.times += 1
            return [{"metric": "auc", "gap": 0.25 + seed}]

        about = {"seed": seed, "by": ("gender", "age")}
        return Trial(kind, "a trial", about, work, labels)


def test_a_finished_trial_is_not_worked_out_again(tmp_path: Path):
    work, store = Work(), TrialStore(tmp_path / "trials")
    first = store.rows(work.trial(), silent)
    again = TrialStore(tmp_path / "trials").rows(work.trial(), silent)
    assert first == again == [{"metric": "auc", "gap": 0.25}]
    assert (work.times, store.n_worked) == (1, 1)
    assert [file.suffix for file in (tmp_path / "trials").iterdir()] == [".json"]


def test_another_seed_or_kind_is_another_trial(tmp_path: Path):
    work, store = Work(), TrialStore(tmp_path)
    for trial in (work.trial(0), work.trial(1), work.trial(0, kind="chance"), work.trial(1)):
        store.rows(trial, silent)
    assert work.times == 3


def test_other_code_is_another_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    work, store = Work(), TrialStore(tmp_path)
    store.rows(work.trial(), silent)
    monkeypatch.setattr("fairrec_paper.reproduction.experiment.code_sum", lambda: "another")
    store.rows(work.trial(), silent)
    store.rows(work.trial(), silent)
    assert work.times == 2


def test_labels_are_of_the_use_and_not_kept(tmp_path: Path):
    work, store = Work(), TrialStore(tmp_path)
    assert store.rows(work.trial(method="dpso"), silent)[0]["method"] == "dpso"
    assert store.rows(work.trial(method="other"), silent)[0]["method"] == "other"
    assert work.times == 1


def test_a_damaged_trial_is_named(tmp_path: Path):
    work, store = Work(), TrialStore(tmp_path)
    store.rows(work.trial(), silent)
    (file,) = tmp_path.iterdir()
    file.write_text('{"about"')
    with pytest.raises(InputError, match=rf"{file.name}: is damaged.*Remove it"):
        store.rows(work.trial(), silent)


def test_an_interrupted_trial_leaves_nothing_behind(tmp_path: Path):
    def work(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        TrialStore(tmp_path).rows(Trial("search", "", {}, work), silent)
    assert [*tmp_path.iterdir()] == []


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path):
    (tmp_path / "trials").write_text("a file")
    with pytest.raises(OutputError, match="Choose another"):
        TrialStore(tmp_path / "trials").rows(Work().trial(), silent)


def test_progress_is_over_all_trials_and_rows_come_by_kind(tmp_path: Path):
    work, progress = Work(), []
    trials = [work.trial(0, n=1), work.trial(0, kind="chance"), work.trial(1, n=2)]
    frames = run_trials(trials, TrialStore(tmp_path), lambda *step: progress.append(step))
    assert [step[1:] for step in progress] == [(0, 3), (1, 3), (2, 3)]
    assert progress[0][0] == "1 of 3, a trial"
    assert frames["search"].rows() == [(1, "auc", 0.25), (2, "auc", 1.25)]
    assert frames["chance"].rows() == [("auc", 0.25)]
