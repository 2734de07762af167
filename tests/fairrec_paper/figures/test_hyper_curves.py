from __future__ import annotations

import polars as pl

from fairrec_paper.figures import hyper_curves
from tests.report.drawing import svg


def test_the_curves_of_both_parameters_are_drawn():
    curves = pl.DataFrame(
        {
            "parameter": ["epsilon"] * 2 + ["iterations"] * 2,
            "value": [0.1, 0.2, 1.0, 5.0],
            "accuracy": [0.5, 0.9, 0.4, 0.8],
            "accuracy_sd": [0.1, None, 0.1, 0.1],
            "seconds": [1.0, 2.0, 1.0, 3.0],
            "seconds_sd": [2.0, 0.1, 0.1, None],
        }
    )
    advice = {"epsilon": (0.1, 0.2), "iterations": (5.0, 10.0)}
    drawn = svg(hyper_curves(curves, "By hyper-parameters", advice))
    assert all(word in drawn for word in ("By hyper-parameters", "epsilon", "iterations"))
