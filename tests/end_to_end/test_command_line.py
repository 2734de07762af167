"""The command line: its options, what it prints and what it writes."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import jsonschema
import polars as pl
import pytest
import typer

from fairrec.commands import app
from fairrec.core.version import __version__
from tests.builders import audit, make_tables, numbers_of, without_origin
from tests.end_to_end.command_line import (
    AUDIT,
    Ran,
    run_here,
    write_tables,
)
from tests.worlds import random_world

FILES = ["groups.parquet", "per_user.parquet", "report.html", "result.json", "run.json"]


def names_in(folder: Path) -> list[str]:
    """The names of a folder's files."""
    return sorted(path.name for path in folder.iterdir())


def strict_json(text: str) -> Any:
    """JSON without NaN and Infinity, which the standard does not know."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.fixture(scope="module")
def full_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Ran, Path]:
    """One audit with all options, and the folder it ran in."""
    folder = tmp_path_factory.mktemp("audit")
    tables = make_tables()
    write_tables(folder, tables)
    tables.users.rename({"user_id": "who"}).write_csv(folder / "the users.csv")
    tables.items.rename({"categories": "tags"}).write_ipc(folder / "items.arrow")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        ran = run_here(
            *("audit", "predictions.parquet", "--users", "the users.csv", "--by", "gender,age:20"),
            *("--items", "items.arrow", "--history", "history.parquet"),
            *("--metrics", "auc,mrr@3,urd@5,urp"),
            *("--columns", "users.user_id=who", "--columns", "items.categories=tags"),
            *("--depth", "2", "--min-support", "3", "--permutations", "49", "--alpha", "0.2"),
            *("--seed", "7", "--threads", "2"),
            *("--title", "Spring", "--model-name", "ranker", "--model-version", "2.1"),
            *("--author", "Ann"),
            *("--out", "my results/first", "--format", "json"),
        )
    return ran, folder


def test_json_on_standard_output_is_the_result_that_is_written(full_run: tuple[Ran, Path]):
    ran, folder = full_run
    assert ran.code == 0
    printed = strict_json(ran.stdout)
    written = strict_json((folder / "my results/first/result.json").read_text("utf-8"))
    # the id is for files
    assert written["id"] and {**printed, "id": written["id"]} == written
    assert ran.stderr == (
        "Written to my results/first: result.json, run.json, groups.parquet, per_user.parquet, "
        "report.html\n"
    )
    assert names_in(folder / "my results/first") == FILES


def test_every_option_reaches_the_result(full_run: tuple[Ran, Path]):
    result = json.loads(full_run[0].stdout)
    assert [*result["metrics"]] == ["auc", "mrr@3", "urd@5", "urp@5"]
    assert [*result["attributes"]] == ["gender", "age"]
    assert result["attributes"]["age"]["binning"] == "width 20"
    assert result["depth"] == 2
    assert result["coverage"]["min_users"] == 3
    assert result["permutations"] == 49
    assert result["metrics"]["mrr@3"]["chance"]["permutations"] == 49
    assert result["alpha"] == 0.2
    assert result["seed"] == 7
    assert result["title"] == "Spring"
    assert result["model"] == {"name": "ranker", "version": "2.1"}
    assert result["n_users"] == 48
    assert result["fairrec_version"] == __version__
    assert {part: entry["name"] for part, entry in result["inputs"].items()} == {
        "predictions": "predictions.parquet",
        "users": "the users.csv",
        "items": "items.arrow",
        "history": "history.parquet",
    }
    assert all(re.fullmatch("[0-9a-f]{64}", entry["sha256"]) for entry in result["inputs"].values())


def test_the_command_in_the_result_gives_the_same_numbers_on_one_thread(
    full_run: tuple[Ran, Path], monkeypatch: pytest.MonkeyPatch
):
    ran, folder = full_run
    monkeypatch.chdir(folder)
    first = json.loads(ran.stdout)
    program, *arguments = shlex.split(first["command"])
    assert program == "fairrec"
    again = run_here(*arguments, "--threads", "1", "--out", "again", "--no-report")
    assert again.code == 0
    assert without_origin(json.loads(again.stdout)) == without_origin(first)
    for name in ("groups.parquet", "per_user.parquet"):
        written = pl.read_parquet(folder / "my results/first" / name)
        assert written.equals(pl.read_parquet(folder / "again" / name))


def test_the_library_gives_the_numbers_of_the_command(full_run: tuple[Ran, Path]):
    tables = make_tables()
    result = audit(
        *tables[:2],
        **{"by": ["gender", "age:20"], "items": tables.items, "history": tables.history},
        **{"metrics": ["auc", "mrr@3", "urd", "urp"], "depth": 2, "min_support": 3},
        **{"permutations": 49, "alpha": 0.2, "seed": 7, "title": "Spring", "author": "Ann"},
        **{"model_name": "ranker", "model_version": "2.1"},
    )
    assert numbers_of(result) == without_origin(json.loads(full_run[0].stdout))


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The result of a world with a badly served group, and the folder it was made in."""
    folder = tmp_path_factory.mktemp("findings")
    users, predictions = random_world(worse_served={"age": "65+"}, effect=3.0, seed=1)
    write_tables(folder, make_tables()._replace(users=users, predictions=predictions))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        written = ("--out", "out", "--no-report", "--format", "json", "--quiet")
        ran = run_here(*AUDIT, "--by", "age,gender", *written)
    assert (ran.code, ran.stderr) == (0, "")
    return strict_json(ran.stdout), folder


def test_results_validate_against_the_schema(full_run: tuple[Ran, Path], findings, monkeypatch):
    schema = strict_json(run_here("list", "schema", "result").stdout)
    validator = jsonschema.validators.validator_for(schema)
    validator.check_schema(schema)
    check = validator(schema)
    check.validate(json.loads(full_run[0].stdout))
    with_findings, folder = findings
    assert with_findings["metrics"]["mrr@5"]["findings"]
    check.validate(with_findings)
    monkeypatch.chdir(folder)
    untested = run_here(
        *AUDIT, "--by", "age,gender", "--permutations", "0", "--depth", "full", "--format", "json"
    )
    check.validate(strict_json(untested.stdout))
    for part in ("metrics", "n_users", "warnings"):
        assert not check.is_valid(
            {name: with_findings[name] for name in schema["properties"] if name != part}
        )
    assert not check.is_valid({**with_findings, "verdict": "fair"})


def _is_group(table: pl.DataFrame, group: dict[str, Any], attributes: list[str]) -> pl.DataFrame:
    """The rows of exactly this group."""
    return table.filter(
        pl.col(name) == str(group[name]) if name in group else pl.col(name).is_null()
        for name in attributes
    )


def test_the_tables_say_what_the_result_says(findings):
    result, folder = findings
    groups = pl.read_parquet(folder / "out/groups.parquet")
    per_user = pl.read_parquet(folder / "out/per_user.parquet")
    attributes = [*result["attributes"]]
    assert per_user.columns == ["user_id", *attributes, *result["metrics"]]
    assert per_user.height == result["n_users"]
    for name, metric in result["metrics"].items():
        rows = groups.filter(pl.col("metric") == name)
        assert rows.height == metric["n_groups"]
        values = per_user[name].drop_nulls()
        assert len(values) == metric["n_defined"]
        assert values.mean() == pytest.approx(metric["mean"], abs=1e-12)
        full = rows.filter(pl.col("depth") == len(attributes))
        assert full["value"].max() - full["value"].min() == pytest.approx(metric["gap"])
        assert metric["findings"]
        for entry in (metric["advantaged"], metric["disadvantaged"], *metric["findings"]):
            row = _is_group(rows, entry["group"], attributes).row(0, named=True)
            assert row["value"] == entry["value"]
            assert row["support"] == entry["support"]
            members = per_user.filter(
                pl.col(attribute) == str(value) for attribute, value in entry["group"].items()
            )
            assert members[name].count() == entry["support"]
            assert members[name].mean() == pytest.approx(entry["value"], abs=1e-12)
        for finding in metric["findings"]:
            row = _is_group(rows, finding["group"], attributes).row(0, named=True)
            assert row["p_value"] == finding["p_value"]
            assert row["p_adjusted"] == finding["p_adjusted"]
            assert row["difference"] == finding["difference"]
            assert [row["difference_low"], row["difference_high"]] == finding["interval"]
        # the interval of a significant group may contain 0: then it is inconclusive
        excludes_zero = (pl.col("simultaneous_low") >= 0) | (pl.col("simultaneous_high") <= 0)
        significant = rows.filter(pl.col("p_adjusted") <= result["alpha"], excludes_zero)
        assert significant.height == metric["n_significant"]


def test_help_names_every_command_and_option():
    commands = typer.main.get_command(app).commands
    overview = run_here("--help")
    assert overview.code == 0
    assert {*commands} >= {"audit", "demo", "list"}
    assert len(commands) <= 16
    assert all(name in overview.stdout for name in commands)
    for name, command in commands.items():
        has_all = any("--help-all" in option.opts for option in command.params)
        ran = run_here(name, "--help-all" if has_all else "--help")
        assert ran.code == 0
        assert ran.stderr == ""
        for option in command.params:
            assert option.opts[0] in ran.stdout.lower()
            assert option.help
