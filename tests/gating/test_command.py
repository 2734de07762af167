"""`fairrec gate` and `fairrec init`, with the real command."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.builders import make_tables
from tests.end_to_end.command_line import run_here, write_tables
from tests.gating.judged_world import planted

LIMITS = {"passed": 0.5, "failed": 0.03, "inconclusive": 0.25}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    planted().save(tmp_path / "audit", report=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return tmp_path


def write_policy(limit: float, more: str = "[require]\ncertify_from = 100") -> None:
    Path("fairrec.toml").write_text(f'[[rule]]\nmetric = "hits"\nmax_worse = {limit}\n{more}\n')


@pytest.mark.parametrize(
    ("outcome", "options", "code"),
    [
        ("passed", (), 0),
        ("failed", (), 1),
        ("inconclusive", (), 3),
        ("inconclusive", ("--inconclusive", "pass"), 0),
    ],
)
def test_the_exit_code_tells_the_outcome(here: Path, outcome, options, code):
    write_policy(LIMITS[outcome])
    ran = run_here("gate", "audit", *options)
    assert ran.code == code, ran.stderr
    assert ran.stdout.startswith(outcome.capitalize())


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda: None, "There is no fairrec.toml"),
        (lambda: write_policy(0.1, "sevrity = 'warn'"), "Did you mean 'severity'"),
        (
            lambda: write_policy(0.1, "[[rule]]\nmetric = 'nope'\nmax_worse = 1"),
            "rule 2: No metric",
        ),
        (lambda: (write_policy(0.1), Path("audit/groups.parquet").unlink()), "Is it an audit"),
        (lambda: (write_policy(0.1), Path("audit/result.json").write_text("{}")), "is no result"),
    ],
)
def test_bad_input_is_one_message_and_code_2(here: Path, spoil, says):
    spoil()
    ran = run_here("gate", "audit")
    assert ran.code == 2 and ran.stdout == ""
    assert says in ran.stderr and "Traceback" not in ran.stderr


def test_policy_baseline_and_releases_are_those_that_are_named(here: Path):
    rule = '[[rule]]\nmetric = "hits"\n'
    policy = f'{rule}baseline = "no_group_worse"\ntolerance = 0.5\n{rule}trend = "not_worse"\n'
    Path("other.toml").write_text(policy)
    planted().save("releases/v1", report=False)
    ran = run_here(
        *("gate", "audit", "--policy", "other.toml"),
        *("--baseline", "releases/v1", "--releases", "releases"),
    )
    assert ran.code == 0, ran.stderr
    assert "is worse than in the baseline by more than 0.5" in ran.stdout
    assert "no group has become worse over 2 releases" in ran.stdout
    ran = run_here("gate", "audit", "--policy", "other.toml", "--releases", "releases")
    assert ran.code == 2 and "has baseline, which needs --baseline" in ran.stderr


@pytest.mark.parametrize("name", ["baseline", "releases"])
def test_audits_that_no_rule_is_compared_with_are_refused(here: Path, name: str):
    write_policy(0.5)
    planted().save("earlier/v1", report=False)
    folder = {"baseline": "earlier/v1", "releases": "earlier"}[name]
    ran = run_here("gate", "audit", f"--{name}", folder)
    assert (ran.code, ran.stdout) == (2, "")
    assert f"--{name}: no rule of fairrec.toml has " in ran.stderr
    assert f"or leave --{name} out" in ran.stderr


def test_what_build_servers_read_is_written(here: Path, monkeypatch: pytest.MonkeyPatch):
    write_policy(0.03)
    Path("steps.md").write_text("# before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "steps.md")
    ran = run_here(
        "gate", "audit", "--junit", "j.xml", "--summary", "s.md", "--github", "--explain"
    )
    assert ran.code == 1
    assert ran.stdout.startswith("::error title=FairRec failed::hits: no group is worse")
    assert ElementTree.parse("j.xml").getroot().get("failures") == "1"
    summary = Path("s.md").read_text()
    assert summary.startswith("### FairRec: Failed: 1 of 1 check.") and "to pass" in summary
    assert Path("steps.md").read_text() == "# before\n\n" + summary


def test_a_policy_is_written_and_holds(here: Path):
    made = run_here("init", "audit")
    assert made.code == 0 and "fairrec gate audit" in made.stderr
    assert run_here("gate", "audit").code == 1
    again = run_here("init", "audit")
    assert again.code == 2 and "exists already" in again.stderr


def test_an_audit_and_its_gate_in_one_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write_tables(tmp_path, make_tables(80))
    monkeypatch.chdir(tmp_path)
    audit = ("audit", "predictions.parquet", "--users", "users.parquet", "--by", "gender")
    audit += ("--metrics", "mrr@5", "--permutations", "39", "--max-undefined", "0.2")
    rule = '[[rule]]\nmetric = "mrr@5"\nmax_worse = '
    Path("fairrec.toml").write_text(f"{rule}0.9\n")
    ran = run_here(*audit, "--gate", "--out", "audit", "--junit", "j.xml")
    assert ran.code == 0, ran.stderr
    assert "PASS  mrr@5: no group is worse by more than 0.9" in ran.stdout
    assert Path("j.xml").exists() and Path("audit/result.json").exists()
    # what the gate writes is no part of the audit
    ran = run_here(*audit, "--gate", "--out", "other", "--junit", "k.xml", "--summary", "s.md")
    written = [json.loads(Path(f"{out}/result.json").read_text()) for out in ("audit", "other")]
    assert written[0]["id"] == written[1]["id"]
    # the whole is judged, and what is hidden in its files is not there for another gate
    ran = run_here(*audit, "--gate", "--out", "audit", "--min-shown", "30")
    assert ran.code == 0, ran.stderr
    ran = run_here("gate", "audit")
    assert ran.code == 2
    assert "its groups of fewer than 30 users are hidden" in ran.stderr
    Path("fairrec.toml").write_text(f"{rule}0.0001\n")
    assert run_here(*audit, "--gate").code == 3
    # one document on standard output
    ran = run_here(*audit, "--gate", "--format", "json")
    assert ran.code == 3 and "mrr@5" in json.loads(ran.stdout)["metrics"]
    assert "OPEN  mrr@5" in ran.stderr


def test_options_of_the_gate_need_it(here: Path):
    ran = run_here("audit", "nothing.parquet", "--junit", "j.xml", "--by", "gender")
    assert ran.code == 2 and "--junit is of the gate. Add --gate" in ran.stderr


def test_a_baseline_is_there_and_stays_before_an_audit_is_made(here: Path):
    Path("fairrec.toml").write_text(
        '[[rule]]\nmetric = "hits"\nbaseline = "no_group_worse"\ntolerance = 0.01\n'
    )
    audit = ("audit", "nothing.parquet", "--by", "gender", "--gate", "--out", "audit")
    for options, says in (
        (("--policy", "no.toml"), "no.toml: cannot be read"),
        ((), "rule 1: has baseline, which needs --baseline"),
        (("--baseline", "nowhere"), "nowhere: is no folder"),
        # it would be compared with itself, and pass whatever became worse
        (("--baseline", "../" + here.name + "/audit"), "baseline: is the audit itself"),
    ):
        ran = run_here(*audit, *options)
        assert ran.code == 2 and says in ran.stderr, ran.stderr


@pytest.mark.parametrize(
    ("option", "file"),
    [
        ("--summary", "audit/result.json"),
        *(("--junit", file) for file in ("audit/report.html", "other.toml", "base/run.json")),
        ("--junit", "link.xml"),
    ],
)
def test_the_outcome_is_written_over_nothing_that_is_read(here: Path, option: str, file: str):
    write_policy(0.5)
    Path("fairrec.toml").rename("other.toml")
    planted().save("base", report=False)
    Path("link.xml").symlink_to("audit/result.json")
    before = {path: path.read_bytes() for path in Path().rglob("*.*") if path.is_file()}
    ran = run_here("gate", "audit", "--policy", "other.toml", "--baseline", "base", option, file)
    assert (ran.code, ran.stdout) == (2, "")
    assert option in ran.stderr and "Name another file" in ran.stderr
    assert {path: path.read_bytes() for path in Path().rglob("*.*") if path.is_file()} == before


def test_what_is_printed_for_people_holds_no_commands_for_github(here: Path):
    write_policy(0.5)
    lines = run_here("gate", "audit", "--github").stdout.splitlines()
    token = lines[0].removeprefix("::stop-commands::")
    assert len(token) == 32 and lines[-1] == f"::{token}::"
    assert lines[1].startswith("Passed")
    assert "stop-commands" not in run_here("gate", "audit").stdout
    assert json.loads(run_here("gate", "audit", "--github", "--format", "json").stdout)
