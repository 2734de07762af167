"""Importing the package and asking for help stay light and off the network."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.end_to_end.command_line import plain_environment

HEAVY = (
    "altair",
    "jinja2",
    "vl_convert",
    "numba",
    "scipy",
    "polars",
    "pandas",
    "pyarrow",
    "numpy",
    "pydantic",
    "httpx",
    "mlflow",
    "orjson",
    "onnxruntime",
    "starlette",
    "uvicorn",
)

WATCH = """
import json, sys
events = []
sys.addaudithook(
    lambda event, arguments: events.append(event)
    if event.startswith(("socket.", "urllib.", "http.", "ftplib.")) else None
)
{code}
print(json.dumps({{"modules": sorted(sys.modules), "events": events}}))
"""


def _watched(code: str, folder: Path) -> dict[str, list[str]]:
    done = subprocess.run(
        [sys.executable, "-c", WATCH.format(code=code)],
        cwd=folder,
        env=plain_environment(),
        capture_output=True,
        check=True,
        timeout=60,
        text=True,
    )
    assert done.stderr == ""
    assert [*folder.iterdir()] == []
    return json.loads(done.stdout.splitlines()[-1])


def test_importing_the_package_loads_nothing_heavy_and_opens_no_connection(tmp_path: Path):
    seen = _watched("import fairrec\nassert fairrec.__version__", tmp_path)
    assert "fairrec" in seen["modules"]
    assert not {*HEAVY} & {*seen["modules"]}
    assert seen["events"] == []


@pytest.mark.slow
def test_an_audit_opens_no_connection_and_never_loads_pandas(tmp_path: Path):
    code = (
        "import fairrec, polars as pl\n"
        "users = pl.DataFrame({'user_id': [1, 2], 'g': ['a', 'b']})\n"
        "lists = pl.DataFrame({'user_id': [1, 2], 'item_id': [[1, 2]] * 2,\n"
        "    'score': [[0.1, 0.2], [0.2, 0.1]], 'label': [[1, 0]] * 2})\n"
        "result = fairrec.audit(lists, users=users, by='g', min_support=1,\n"
        "    statistics=fairrec.Statistics(permutations=9))\n"
        "assert result.gap('mrr').size == 0.5"
    )
    seen = _watched(code, tmp_path)
    assert seen["events"] == []
    assert "numba" in seen["modules"]
    assert not {"pandas", "torch"} & {*seen["modules"]}


def test_every_public_name_can_be_had_and_others_cannot():
    import fairrec

    assert {*fairrec.__all__} <= {*dir(fairrec)}
    for name in fairrec.__all__:
        assert getattr(fairrec, name) is not None
    assert not hasattr(fairrec, "no_such_name")
