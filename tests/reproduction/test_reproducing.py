"""What is worked out, and what is taken from before."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fairrec.core.errors import InputError, UnknownNameError
from fairrec.reproduction.code_sum import PACKAGE, code_sum
from fairrec.reproduction.options import QUICK
from fairrec.reproduction.reproducing import reproduce
from tests.reproduction.changed_package import changed_package

FIGURE = "figure-initialise"


def test_trials_are_worked_out_anew_when_code_they_rest_on_has_changed(tmp_path, monkeypatch):
    def n_worked(package: Path = PACKAGE) -> int:
        with monkeypatch.context() as patch:
            patch.setattr(
                "fairrec.reproduction.trials.trial.code_sum",
                lambda module: code_sum(module, package),
            )
            (done,) = reproduce(
                [FIGURE], tmp_path / "out", datasets=["movielens-1m"], options=QUICK
            )
        assert done.n_trials == 4
        return done.n_worked

    assert n_worked() == 4
    assert n_worked() == 0
    assert n_worked(changed_package(tmp_path, "report/figures/initial_positions.py")) == 0
    assert n_worked(changed_package(tmp_path, "search/searchers/swarms.py")) == 4
    # what was worked out before is still there
    assert n_worked() == 0


def test_an_experiment_without_any_of_the_data_sets_is_left_out(tmp_path):
    done = reproduce(
        [FIGURE, "table3"], tmp_path, datasets=["blackfriday"], options=QUICK, command="by hand"
    )
    assert [one.experiment.name for one in done] == [FIGURE]
    assert done[0].title.endswith("synthetic shape of BlackFriday, 240 users")
    assert "$ by hand" in (done[0].folder / f"{FIGURE}.md").read_text()
    with pytest.raises(InputError, match="table3 is of movielens-1m, lfm360k"):
        reproduce(["table3"], tmp_path, datasets=["blackfriday"], options=QUICK)


def test_unknown_names_are_refused_before_anything_is_written(tmp_path):
    for names, datasets in ((["tabel2"], None), (["table2"], ["movielens"])):
        with pytest.raises(UnknownNameError, match="Did you mean"):
            reproduce(names, tmp_path / "out", datasets=datasets, options=QUICK)
    assert not (tmp_path / "out").exists()


def test_without_the_extra_for_pictures_nothing_is_begun(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(InputError, match=r"fairrec\[figures\]"):
        reproduce([FIGURE], tmp_path / "out", options=QUICK)
    assert not (tmp_path / "out").exists()
