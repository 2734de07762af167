"""The files behind own metrics."""

from __future__ import annotations

import hashlib
import runpy
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path

from fairrec.core.files import file_sum
from fairrec.metrics.own_code import OwnCode, own_code
from fairrec.metrics.registry import METRICS
from fairrec.metrics.value_columns import metric_of_column

HERE = OwnCode("test_own_code.py", file_sum(Path(__file__)))


def first(lists, weight=1):
    return lists.labels(1)[:, 0] * weight


class Weighted:
    def __call__(self, lists):
        return first(lists, 2)


def own(compute):
    return replace(METRICS["auc"], name="mine", compute=compute)


def test_metrics_of_fairrec_have_none():
    column = metric_of_column("churn", {}, "the values").metric
    assert own_code([METRICS["ndcg"], METRICS["auc"], column]) == ()


def test_the_file_of_an_own_metric_is_found_whatever_stands_around_its_function():
    @wraps(first)
    def wrapped(lists):
        return first(lists)

    for compute in (first, partial(first, weight=2), wrapped, Weighted()):
        assert own_code([own(compute), METRICS["auc"]]) == (HERE,)


def test_files_that_were_loaded_count_too_and_each_once(tmp_path):
    (tmp_path / "a.py").write_text("weights = {}")
    loaded = OwnCode("a.py", hashlib.sha256(b"weights = {}").hexdigest())
    assert own_code([own(first)], [tmp_path / "a.py", Path(__file__)]) == (loaded, HERE)


def test_code_that_is_in_no_file_has_the_name_of_its_metric(tmp_path):
    assert own_code([own(max)]) == (OwnCode("mine", ""),)
    file = tmp_path / "gone.py"
    file.write_text("def gone(lists):\n    return 1\n")
    gone = runpy.run_path(str(file))["gone"]
    file.unlink()
    assert own_code([own(gone)]) == (OwnCode("mine", ""),)
