"""Fill the tables of reproduction.md and results.md from docs/reproduction/.

`python docs/make_reproduction.py` takes the CSV files that are there;
`python docs/make_reproduction.py OUT` copies those of a new run first. OUT holds
folders `ours`, `paper`, `trainings`, `shape`, `again` (four models trained once more),
`decades` (LFM360K by the paper's protocol) and `two-cores`, each as `fairrec-paper reproduce --out`
wrote it.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

from reproduction_claims import claims
from reproduction_figures import TABLES as FIGURES
from reproduction_files import FILES
from reproduction_tables import TABLES
from reproduction_trainings import TABLES as TRAININGS

DOCS = Path(__file__).parent
PAGES = (DOCS / "evidence" / "reproduction.md", DOCS / "evidence" / "results.md")
MARKED = re.compile(r"(<!-- from ([\w-]+) -->\n).*?(<!-- end -->)", re.S)
MAKERS = {**TABLES, **TRAININGS, **FIGURES, "claims": claims}
KEPT = (
    "*/table1/*.csv",
    "*/next-worst/*.csv",
    "*/table2/[cg]*.csv",
    "*/table3*/[clt]*.csv",
    "*/table-attributes/*.csv",
    "*/table-mitigation/gaps-*.csv",
    "*/figure-correlation/correlation-*.csv",
    "*/figure-efficiency/*.csv",
    "*/figure-hyper/*.csv",
    "*/figure-initialise/*.csv",
    "*/figure-vanilla/improvement.csv",
    "*/sensitivity/*.csv",
    "*/trainings/*.csv",
)
"""What the pages rest on; the gaps of single searches in limited time are left out as too large."""


def filled(text: str) -> str:
    """The text of a page with each marked table made anew."""
    return MARKED.sub(lambda mark: f"{mark[1]}{MAKERS[mark[2]]()}{mark[3]}", text)


def copy(out: Path) -> int:
    """Take the CSV files of a new run; returns how many."""
    files = [path for pattern in KEPT for path in sorted(out.glob(pattern))]
    for path in files:
        target = FILES / path.relative_to(out)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return len(files)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(f"{copy(Path(sys.argv[1]))} files copied")
    for page in PAGES:
        page.write_text(filled(page.read_text("utf-8")), "utf-8")
