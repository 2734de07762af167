"""Whoever opens a module finds its tests under the same path."""

from __future__ import annotations

from pathlib import Path

import fairrec

PACKAGE = Path(fairrec.__file__).parent
TESTS = Path(__file__).parent
NOT_YET: set[str] = {
    "core/arrays",
    "core/progress",
    "datasets/assemble",
    "datasets/deciles",
    "datasets/delimited",
    "datasets/json_lines",
    "datasets/negatives",
    "datasets/raw_folder",
    "datasets/raw_table",
    "datasets/readers",
    "datasets/registry",
    "mitigation/before_after",
    "mitigation/predictions",
    "mitigation/remedy",
    "mitigation/rerankers/blend",
    "mitigation/rerankers/group_prior",
    "mitigation/rerankers/oracle",
    "mitigation/summary",
    "models/deep/base",
    "models/deep/dcn",
    "models/deep/deepfm",
    "models/deep/evaluation",
    "models/deep/features",
    "models/deep/fgcnn",
    "models/deep/registry",
    "models/deep/score",
    "models/deep/training_data",
    "models/deep/wide_deep",
    "models/shallow/taste",
    "report/figures/group_chart",
    "report/figures/grouped_bars",
    "report/figures/metric_correlation",
    "report/figures/pair_heat_map",
    "report/figures/search_curves",
    "report/figures/search_history",
    "report/figures/still",
    "report/figures/trade_off",
    "report/mitigation/view",
    "report/page/chart_view",
    "report/page/payload",
    "report/page/table",
    "report/page/value_order",
    "report/page/verdicts",
    "report/page/view",
    "report/text/markdown",
    "report/text/terminal",
    "report/words",
    "reproduction/claims",
    "reproduction/data_source",
    "reproduction/experiment",
    "reproduction/experiments/figure2_initial_positions",
    "reproduction/experiments/figure5_efficiency",
    "reproduction/experiments/figure6_hyper_parameters",
    "reproduction/experiments/table1_model_quality",
    "reproduction/experiments/table2_effectiveness",
    "reproduction/experiments/table5_attributes",
    "reproduction/experiments/tables4_6_mitigation",
    "reproduction/gap_tables",
    "reproduction/layout",
    "reproduction/methods",
    "reproduction/outcome",
    "reproduction/recommender",
    "reproduction/registry",
    "reproduction/space",
    "reproduction/subject",
    "reproduction/trials/chance",
    "reproduction/trials/mitigation",
    "reproduction/trials/particles",
    "reproduction/trials/searches",
    "reproduction/trials/training",
    "search/searched",
    "workflows/demo",
}
"""Modules that have no test file of their name so far. It only shrinks."""


def modules() -> set[str]:
    """Every module as a path from the package, `__init__` and `__main__` left out."""
    return {
        str(file.relative_to(PACKAGE).with_suffix(""))
        for file in PACKAGE.rglob("*.py")
        if not file.stem.startswith("__")
    }


def test_every_module_has_a_test_file_of_its_name():
    without = {
        module
        for module in modules()
        if not (TESTS / module).with_name(f"test_{Path(module).name}.py").is_file()
    }
    assert without == NOT_YET
