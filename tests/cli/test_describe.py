from __future__ import annotations

import json

from fairrec.metrics import METRICS
from fairrec.search.searcher import SEARCHERS
from tests.end_to_end.command_line import run_here


def test_metrics_and_searchers_are_listed_by_name():
    for command, registry in (("metrics", METRICS), ("searchers", SEARCHERS)):
        lines = run_here(command).stdout.splitlines()
        assert {*registry} <= {line.split()[0].removesuffix("@k") for line in lines}


def test_the_schema_is_json():
    assert "metrics" in json.loads(run_here("schema").stdout)["properties"]
