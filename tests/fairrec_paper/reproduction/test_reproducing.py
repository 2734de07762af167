"""What is worked out, and what is taken from before."""

from __future__ import annotations

import shutil
import sys

import pytest

import fairrec
from fairrec.core.errors import InputError, UnknownNameError
from fairrec_paper.reproduction.experiment import code_sum
from fairrec_paper.reproduction.options import QUICK
from fairrec_paper.reproduction.reproducing import reproduce

FIGURE = "figure-initialise"


def test_trials_are_worked_out_anew_when_the_code_has_changed(tmp_path, monkeypatch):
    def n_worked(changed: str = "") -> int:
        with monkeypatch.context() as patch:
            if changed:
                package = tmp_path / changed.replace("/", "-") / "fairrec"
                shutil.copytree(fairrec.__path__[0], package)
                with (package / changed).open("a") as stream:
                    stream.write("# another line\n")
                patch.setattr(fairrec, "__path__", [str(package)])
            code_sum.cache_clear()
            (done,) = reproduce(
                [FIGURE], tmp_path / "out", datasets=["movielens-1m"], options=QUICK
            )
        assert done.n_trials == 4
        return done.n_worked

    assert n_worked() == 4
    assert n_worked() == 0
    assert n_worked("report/words.py") == 0
    assert n_worked("search/searchers/swarms.py") == 4
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
