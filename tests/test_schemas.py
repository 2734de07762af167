"""Every JSON file we write fits its schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import fairrec
from fairrec.schemas import FILES, schema
from fairrec.search.options import Search
from tests.builders import audit, make_tables, two_groups
from tests.mitigation.planted import mitigate, planted
from tests.trends.trend_builders import six_releases


def fits(file: Path, name: str) -> None:
    jsonschema.Draft202012Validator(schema(name)).validate(read(file))


def read(file: Path) -> Any:
    """JSON as every reader takes it: no NaN."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{file.name} holds {constant}")

    return json.loads(file.read_text("utf-8"), parse_constant=refuse)


def test_every_schema_is_one_has_a_name_and_says_its_version():
    assert len({schema(name)["$id"] for name in FILES}) == len(FILES)
    for name, file in FILES.items():
        made = schema(name)
        jsonschema.Draft202012Validator.check_schema(made)
        version = made["$id"].removeprefix(f"urn:fairrec:schema:{name}:")
        assert made["title"].endswith(f"schema version {version}")
        if not file.is_written_by_people:
            assert made["properties"]["schema_version"]["const"] == version
            assert made["additionalProperties"] is False
            assert "schema_version" in made["required"]


@pytest.mark.parametrize(
    "options",
    [
        {"metrics": "ndcg@5,urd@5,urp@5,auc"},
        {"metrics": "mrr", "permutations": 0},
        {"metrics": "mrr", "tolerance": "5%", "title": "Spring", "model_name": "ranker"},
        {"metrics": "mrr", "min_support": 20},
        {"metrics": "ndcg@5", "adjust_for": "list_length", "depth": 1},
        {"metrics": "ndcg@5", "search": Search("random", budget_users=20)},
    ],
)
def test_what_an_audit_writes_fits(tmp_path, options):
    tables = make_tables()
    result = audit(
        tables.predictions,
        tables.users,
        ["gender", "age:3", "member"],
        **{"items": tables.items, "history": tables.history, **options},
    )
    folder = result.save(tmp_path / "out", report=False)
    fits(folder / "result.json", "result")
    fits(folder / "run.json", "run")


def test_what_is_not_of_ours_does_not_fit(tmp_path):
    folder = audit(*two_groups(), by="group").save(tmp_path / "out", report=False)
    content = read(folder / "result.json")
    check = jsonschema.Draft202012Validator(schema("result"))
    for spoilt in ({**content, "colour": "red"}, {**content, "schema_version": "2"}, {}):
        assert not check.is_valid(spoilt)
    assert check.is_valid(content)


def test_what_a_mitigation_writes_fits(tmp_path):
    folder = mitigate(planted(), "ndcg@5").save(tmp_path / "out", report=False)
    for name in ("result", "run", "mitigation", "reranker"):
        fits(folder / f"{name}.json", name)


def test_what_a_comparison_writes_fits(tmp_path):
    result = audit(*two_groups(80), by="group")
    other = audit(*two_groups(60), by="group", metrics="mrr,ndcg@2")
    for name, pair in (("same", (result, result)), ("other", (result, other))):
        folder = fairrec.compare(*pair).save(tmp_path / name, report=False)
        fits(folder / "comparison.json", "comparison")


def test_what_a_trend_writes_fits(tmp_path):
    folder = fairrec.trend(six_releases()).save(tmp_path, report=False)
    fits(folder / "trend.json", "trend")


def test_every_model_that_says_its_version_has_a_schema():
    package = Path(fairrec.__file__).parent
    found = {
        ".".join(("fairrec", *file.relative_to(package).with_suffix("").parts))
        for file in package.rglob("*.py")
        if "    schema_version: " in file.read_text("utf-8")
    }
    assert found == {
        file.home.partition(":")[0] for file in FILES.values() if not file.is_written_by_people
    }


def test_a_policy_and_what_a_gate_says_fit():
    check = jsonschema.Draft202012Validator(schema("policy"))
    policy = {"rule": [{"metric": "mrr@5", "max_worse": 0.1}], "require": {"max_undefined": 0.05}}
    # as part of a settings file
    assert check.is_valid({"audit": {"by": ["group"]}, **policy})
    assert not check.is_valid({"rule": [{"max_worse": 0.1}]})
    assert not check.is_valid({"rule": [{"metric": "mrr@5", "max_wrose": 0.1}]})
    found = fairrec.gate(audit(*two_groups(80), by="group"), policy)
    said = json.loads(found.model_dump_json())
    jsonschema.Draft202012Validator(schema("gate")).validate(said)
