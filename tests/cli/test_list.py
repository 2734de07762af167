from __future__ import annotations

import json
import re

from fairrec.metrics import METRICS
from fairrec.schemas import FILES, schema
from fairrec.search.searcher import SEARCHERS
from tests.end_to_end.command_line import run_here


def test_metrics_and_searchers_are_listed_by_name():
    for command, registry in (("metrics", METRICS), ("searchers", SEARCHERS)):
        lines = run_here("list", command).stdout.splitlines()
        assert {*registry} <= {re.split("[@ ]", line)[0] for line in lines}


def test_schemas_are_listed_by_name_and_printed_as_json():
    listed = [line.split()[0] for line in run_here("list", "schema").stdout.splitlines()]
    assert listed == [*FILES]
    for name in listed:
        assert json.loads(run_here("list", "schema", name).stdout) == schema(name)


def test_an_unknown_schema_is_an_error_with_the_nearest_name():
    ran = run_here("list", "schema", "resutl")
    assert (ran.code, ran.stdout) == (2, "")
    assert "No schema 'resutl'. Did you mean 'result'?" in ran.stderr
