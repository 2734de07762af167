"""The same commands with this code and with that of another checkout, in one run.

`python -m benchmarks.against OTHER_CHECKOUT` prints the ratio of both, so that the load of the
machine hits them alike.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from benchmarks import data
from benchmarks.measure import Child, call_in_child, run_child

ROUNDS = 5
HERE = Path(__file__).parents[1]


def main() -> None:
    """Run every command with both codes in turns, the first time of each uncounted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path, help="a checkout with the code to compare with")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    call_in_child(data.make_lists, 1)
    with tempfile.TemporaryDirectory() as name:
        demo = Path(name) / "demo"
        run_child((*_fairrec(), "demo", "--out", demo, "--quiet", "--no-report"))
        for what, command in commands(data.folder(1), demo).items():
            before, after = _both(command, options.other, Path(name) / "out", options.rounds)
            print(
                f"{what}: {before.seconds:.2f} s there, {after.seconds:.2f} s here "
                f"({(after.seconds or 0) / (before.seconds or 1):.2f}); processor time "
                f"{after.processor_seconds / before.processor_seconds:.2f}",
                flush=True,
            )


def commands(lists: Path, demo: Path) -> Mapping[str, Sequence[str | Path]]:
    """What is timed; OUT stands for a folder."""
    tables = (
        *(demo / "predictions.parquet", "--users", demo / "users.parquet"),
        *("--items", demo / "items.parquet", "--history", demo / "history.parquet"),
        # another checkout may have another default
        *("--by", "gender,age", "--min-support", "0.001", "--quiet", "--out", "OUT"),
    )
    of_lists: tuple[str | Path, ...] = (
        "audit",
        lists / "rows.parquet",
        "--users",
        lists / "users.parquet",
    )
    return {
        "import fairrec": (sys.executable, "-c", "import fairrec"),
        "--help": (*_fairrec(), "--help"),
        "audit --help": (*_fairrec(), "audit", "--help"),
        "audit of 13,350,000 rows": (
            *_fairrec(),
            *of_lists,
            *("--by", ",".join(data.ATTRIBUTES), "--metrics", "auc,mrr@5,ndcg@5"),
            *("--quiet", "--out", "OUT"),
        ),
        "audit of 200,000 rows": (*_fairrec(), "audit", *tables),
        **{
            f"search by {name}": (
                *(*_fairrec(), "audit", *tables, "--search", name, "--budget-users", "30%"),
            )
            for name in ("adaptive", "dpso")
        },
        "mitigation": (*_fairrec(), "mitigate", *tables, "--metric", "urp_abs@5"),
    }


def _fairrec() -> tuple[str, ...]:
    return (sys.executable, "-m", "fairrec")


def _both(
    command: Sequence[str | Path], other: Path, out: Path, rounds: int
) -> tuple[Child, Child]:
    """The median run with each code."""
    runs: tuple[list[Child], list[Child]] = ([], [])
    for number in range(rounds + 1):
        for found, checkout in zip(runs, (other, HERE), strict=True):
            shutil.rmtree(out, ignore_errors=True)
            parts = [out if part == "OUT" else part for part in command]
            path = {"PYTHONPATH": str(checkout.absolute() / "src")}
            child = run_child(parts, environment=path)
            # the first run compiles kernels
            if number:
                found.append(child)
    return _median(runs[0]), _median(runs[1])


def _median(runs: Sequence[Child]) -> Child:
    middle = median(run.seconds or 0.0 for run in runs)
    return min(runs, key=lambda run: abs((run.seconds or 0.0) - middle))


if __name__ == "__main__":
    main()
