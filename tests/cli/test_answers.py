"""What every command prints: at most 24 lines of 80 columns, and all of it with `--verbose`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from rich.cells import cell_len

from fairrec.report.answer import HEIGHT, WIDTH
from tests.end_to_end.command_line import run_here

N_USERS, N_LISTED = 500, 12
TOWNS = [f"Llanfairpwllgwyngyllgogerychwyrndrobwll [b]{at}[/b]" for at in range(30)]
TOWNS += [f"非常長的城市名稱沒有任何空格可以斷行的地方 {at}" for at in range(30)]
METRICS = ",".join(
    f"{name}@{k}" for name in ("ndcg", "mrr", "precision", "recall") for k in (1, 3, 5)
)


def people(rng: np.random.Generator) -> pl.DataFrame:
    """Eight attributes, one of sixty long and wide values, many users of some unknown."""
    of_any = {f"segment {at}": rng.choice([*"abcdefghi"][: 2 + at], N_USERS) for at in range(4)}
    table = pl.DataFrame(
        {
            "user_id": range(N_USERS),
            "gender": rng.choice(["F", "M"], N_USERS),
            "使用者的年齡層": rng.choice(["二十歲以下", "二十歲以上", "五十歲以上"], N_USERS),
            "town": rng.choice(TOWNS, N_USERS),
            "x" * 60: rng.choice(["\x1b[31mred", "\u202eabc"], N_USERS),
            **of_any,
        }
    )
    known = pl.int_range(pl.len()) % 5 != 0
    return table.with_columns(*(pl.when(known).then(name).alias(name) for name in of_any))


def lists(users: pl.DataFrame, rng: np.random.Generator, harm: float) -> pl.DataFrame:
    """Recommendations with two relevant items, which women get to see less."""
    labels = np.tile([1, 1] + [0] * (N_LISTED - 2), (N_USERS, 1))
    gain = 2.0 - harm * (users["gender"].to_numpy() == "F")[:, None]
    scores = rng.normal(size=labels.shape) + gain * labels
    items = np.argsort(rng.random((N_USERS, 40)), axis=1)[:, :N_LISTED]
    table = pl.DataFrame(
        {"user_id": range(N_USERS), "item_id": items, "score": scores, "label": labels},
        schema_overrides={"item_id": pl.List(pl.Int64)},
    )
    # every ninth user has no list
    return table.filter(pl.col("user_id") % 9 != 0).explode("item_id", "score", "label")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("answers")
    rng = np.random.default_rng(0)
    users = people(rng)
    users.write_parquet(place / "users.parquet")
    pl.DataFrame(
        {"item_id": range(40), "categories": [["a", "b"][at % 2] for at in range(40)]}
    ).write_parquet(place / "items.parquet")
    for at, harm in enumerate((0.2, 0.2, 1.8)):
        lists(users, rng, harm).write_parquet(place / f"lists{at}.parquet")
    (place / "policy.toml").write_text(
        "".join(
            f'[[rule]]\nmetric = "ndcg@{k}"\nmax_worse = {limit}\n'
            for k in (1, 3, 5)
            for limit in (0.01, 0.1, 0.2, 0.3)
        )
    )
    (place / "answers_ranker.py").write_text(SCORER)
    return place


SCORER = """
import numpy as np

def score(user_ids, item_ids, gender):
    return np.where(gender == "F", item_ids, -item_ids)
"""


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    return folder


def check(*arguments: str, code: int = 0) -> list[str]:
    """What a command prints, short and narrow but for the next command and the page's place."""
    ran = run_here(*arguments)
    assert ran.code == code, ran.stderr
    lines = ran.stdout.splitlines()
    n_lines = sum(-(-max(1, cell_len(line)) // WIDTH) for line in lines)
    assert 3 <= n_lines <= HEIGHT, ran.stdout
    wide = ("page: ", "next: ")
    assert max(cell_len(line) for line in lines if not line.startswith(wide)) <= WIDTH
    assert "\x1b" not in ran.stdout and "\u202e" not in ran.stdout
    assert all(line == line.rstrip() for line in lines)
    return lines


def verbose(*arguments: str, title: str, code: int = 0) -> str:
    ran = run_here(*arguments, "--verbose")
    assert ran.code == code, ran.stderr
    assert ran.stdout.startswith(title)
    return ran.stdout


ALL = "gender,使用者的年齡層,town,segment 0,segment 1,segment 2,segment 3," + "x" * 60
QUICK = ("--permutations", "39", "--depth", "2", "--quiet")


def audit(at: int, *options: str, metrics: str = METRICS, by: str = ALL) -> tuple[str, ...]:
    named = ("audit", f"lists{at}.parquet", "--users", "users.parquet", "--by", by)
    return (*named, "--metrics", metrics, *QUICK, *options)


@pytest.mark.parametrize("options", [(), ("--tolerance", "20%"), ("--tolerance", "1%")])
@pytest.mark.parametrize("at", [0, 2])
def test_an_audit(here: Path, at: int, options: tuple[str, ...]):
    lines = check(
        *audit(at, *options, "--out", f"a very long name of a folder/{'x' * 60}", "--force")
    )
    assert lines[-1].startswith("page: a very long")
    if at == 2:
        assert lines[0].startswith(("gender=F is ", "At least ")) or "gender=F" in " ".join(
            lines[:2]
        )
    text = verbose(
        *audit(at, *options, metrics="ndcg@5,mrr@3", by="gender,town"), title="# FairRec audit"
    )
    assert "### Verdicts" in text and "### Ratios" in text


def saved(at: int) -> str:
    """An audit of few groups, made once."""
    if not Path(f"v{at}").exists():
        made = run_here(
            *audit(
                at, "--out", f"v{at}", metrics="ndcg@1,ndcg@3,ndcg@5", by="gender,town,segment 0"
            )
        )
        assert made.code == 0, made.stderr
    return f"v{at}"


def test_a_comparison(here: Path):
    compared = ("compare", saved(1), saved(2))
    for options in ((), ("--tolerance", "0.01"), ("--tolerance", "0.5")):
        lines = check(*compared, *options)
        assert any(line.startswith("all users") for line in lines)
    assert "| all users " in verbose(*compared, title="# FairRec comparison")


def test_a_trend(here: Path):
    check("trend", saved(0), saved(1), saved(2))
    text = verbose("trend", saved(0), saved(1), saved(2), title="# FairRec trend")
    assert "### Groups over releases" in text


@pytest.mark.parametrize("explain", [(), ("--explain",)])
def test_a_gate(here: Path, explain: tuple[str, ...]):
    judged = ("gate", saved(2), "--policy", "policy.toml", *explain)
    lines = check(*judged, code=1)
    assert lines[0].startswith("Failed: ") and lines[1].startswith("FAIL  ")
    text = verbose(*judged, title="### FairRec: Failed", code=1)
    assert text.count("| FAIL |") + text.count("| OPEN |") + text.count("| PASS |") == 12


def test_a_plan(here: Path):
    for options in ((), ("--tolerance", "5%")):
        plan = ("plan", saved(2), *options, "--quiet")
        check(*plan)
        verbose(*plan, title="# FairRec plan")


def test_a_mitigation(here: Path):
    named = (
        "--users",
        "users.parquet",
        "--items",
        "items.parquet",
        "--by",
        "gender,segment 0",
        "--quiet",
    )
    quick = ("--permutations", "19", "--depth", "1", "--groups", "worst:20%", "--strength", "0.5")
    mitigate = (
        "mitigate",
        "lists2.parquet",
        *named,
        *quick,
        "--metric",
        "urd@3",
        "--metrics",
        METRICS + ",urd@3",
    )
    lines = check(*mitigate)
    assert any(line.startswith("urd@3") for line in lines)
    verbose(*mitigate, title="# FairRec mitigation")


def test_a_counterfactual(here: Path):
    model = (
        "--scorer",
        "answers_ranker:score",
        "--features",
        "users:gender",
        "--attribute",
        "gender",
    )
    named = ("counterfactual", "lists0.parquet", "--users", "users.parquet", "--by", "gender,town")
    asked = (*named, *model, *QUICK, "--metrics", "changed@3,affected@3," + METRICS)
    lines = check(*asked)
    assert lines[0].startswith("Gender alone changes the first ")
    verbose(*asked, title="# FairRec counterfactual")


def test_a_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    lines = check("demo", "--quiet")
    assert lines[-1] == "page: fairrec-demo/audit/report.html"
