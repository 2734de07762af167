"""Commands that write, each with what lay there before."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_USERS = "predictions.parquet --users users.parquet"
_TABLES = f"{_USERS} --items items.parquet --history history.parquet"
_AUDIT = f"audit {_TABLES} --permutations 19 --min-support 1 --metrics auc --out"
_MITIGATE = (
    f"mitigate {_TABLES} --by gender,member --permutations 19 --min-support 2 --metric urd@3 "
    "--groups worst:10% --out"
)
_COUNT = f"count {_USERS} --out counts.parquet"
_PLAN = "plan --users users.parquet --metrics auc --out plan.toml"
_SYNTHETIC = "synthetic --items 30 --interactions 8 --attributes gender:2 --out bundle --users"
_TRAIN = (
    "train --data bundle --model wide_deep --epochs 2 --candidates 5 --batch-size 256 --device cpu"
)
_BENCH = (
    f"search-bench {_USERS} --by gender,member --metrics auc --searchers testsgd --seeds 1 "
    "--budgets 100% --min-support 2 --out bench"
)
_REPRODUCE = "reproduce table1 --quick --datasets movielens-1m --out all"


@dataclass(frozen=True)
class Written:
    """A command that writes over what is there.

    Parameters
    ----------
    old, new : arguments of what was there before, and of the command
    out : what is written
    apart : a part of it that is whole by itself
    before : commands that make what is read
    beside : makes what else lies in the output
    races : whether the two may write at once
    """

    name: str
    old: str
    new: str
    out: str
    before: tuple[str, ...] = ()
    beside: Callable[[Path], None] | None = None
    races: bool = True
    apart: str = ""


def _own_note(out: Path) -> None:
    (out / "note.txt").write_text("mine")


def _old_page(out: Path) -> None:
    out.write_text("<html>an older page</html>")


def _own_folder(out: Path) -> None:
    """Has the files replaced one by one, as on a mount point."""
    (out / "plots").mkdir()
    (out / "plots" / "note.txt").write_text("mine")


COMMANDS = (
    Written(
        "audit",
        f"{_AUDIT} out --by gender",
        f"{_AUDIT} out --by gender,member",
        "out",
        beside=_own_note,
    ),
    Written(
        "audit, file by file",
        f"{_AUDIT} out --by gender",
        f"{_AUDIT} out --by gender,member --no-report",
        "out",
        beside=_own_folder,
    ),
    Written("count", f"{_COUNT} --by gender", f"{_COUNT} --by gender,member", "counts.parquet"),
    Written(
        "report",
        f"{_AUDIT} out --by gender",
        "report out",
        "out/report.html",
        beside=_old_page,
        races=False,
    ),
    Written(
        "mitigate",
        f"{_MITIGATE} fixed --strength 0.2",
        f"{_MITIGATE} fixed --strength 0.6",
        "fixed",
        beside=_own_note,
    ),
    Written(
        "rerank",
        f"rerank one/reranker.json {_TABLES} --out new.csv",
        f"rerank two/reranker.json {_TABLES} --out new.csv",
        "new.csv",
        (f"{_MITIGATE} one --strength 0.2", f"{_MITIGATE} two --strength 0.6"),
    ),
    Written("synthetic", f"{_SYNTHETIC} 40 --seed 1", f"{_SYNTHETIC} 50", "bundle"),
    Written(
        "compare",
        "compare one two --out out",
        "compare two one --out out",
        "out",
        (f"{_AUDIT} one --by gender", f"{_AUDIT} two --by gender --seed 3"),
    ),
    Written(
        "card",
        "card one --out card.md",
        "card two --out card.md",
        "card.md",
        (f"{_AUDIT} one --by gender", f"{_AUDIT} two --by member"),
    ),
    Written("plan", f"{_PLAN} --by gender", f"{_PLAN} --by gender,member", "plan.toml"),
    Written(
        "train",
        f"{_TRAIN} --out run",
        f"{_TRAIN} --seed 3 --restart --out run",
        "run",
        (f"{_SYNTHETIC} 60",),
        races=False,
    ),
    Written(
        "score",
        "score --run one --device cpu --out scored.parquet",
        "score --run two --device cpu --out scored.parquet",
        "scored.parquet",
        (f"{_SYNTHETIC} 60", f"{_TRAIN} --out one", f"{_TRAIN} --seed 3 --out two"),
    ),
    Written("prepare", f"{_SYNTHETIC} 40", "prepare movielens-1m --raw raw --out bundle", "bundle"),
    Written("search-bench", f"{_BENCH} --seed 1", f"{_BENCH} --seed 2", "bench", beside=_own_note),
    # its tables have their places before they are audited
    Written(
        "demo",
        "demo --out demo --seed 1",
        "demo --out demo --no-report",
        "demo",
        beside=_own_note,
        races=False,
        apart="audit",
    ),
    # trained runs are used again; the command is told on the page
    Written(
        "reproduce", _REPRODUCE, f"{_REPRODUCE} --runs all/runs", "all/table1", beside=_own_note
    ),
)


def words(arguments: str) -> list[str]:
    """The arguments of a command line."""
    return shlex.split(arguments)
