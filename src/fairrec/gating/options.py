"""The options of a gate."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from fairrec.core.kinds import FILE, FOLDER, SWITCH, one_of
from fairrec.core.options import Option, Options
from fairrec.core.settings import SETTINGS_FILE

GATE = "Gate"
Inconclusive = Literal["fail", "pass"]

PolicyFile = Annotated[
    Path,
    Option(
        FILE,
        "A file with [[rule]] and [require]",
        GATE,
        default=f"{SETTINGS_FILE} in the working folder",
    ),
]
Baseline = Annotated[
    Path | None,
    Option(FOLDER.or_none(), "An audit to be no worse than, for rules with baseline", GATE),
]
Releases = Annotated[
    Path | None,
    Option(FOLDER.or_none(), "Audits of earlier releases, for rules with trend", GATE),
]
Counted = Annotated[
    Inconclusive | None,
    Option(
        one_of("fail", "pass").or_none(),
        "What an inconclusive rule counts as",
        GATE,
        default="neither, and exit code 3",
    ),
]
Junit = Annotated[Path | None, Option(FILE.or_none(), "Write JUnit XML, a test case a rule", GATE)]
Github = Annotated[
    bool, Option(SWITCH, "Print annotations for GitHub, and add to its job's summary", GATE)
]
Summary = Annotated[Path | None, Option(FILE.or_none(), "Write the outcome as Markdown", GATE)]
Explain = Annotated[
    bool, Option(SWITCH, "Say what would have to be true for rules to pass that do not", GATE)
]


@dataclass(frozen=True)
class GateOptions(Options):
    """What an audit is held against, and where the outcome goes."""

    policy: PolicyFile = Path(SETTINGS_FILE)
    baseline: Baseline = None
    releases: Releases = None
    inconclusive: Counted = None
    junit: Junit = None
    github: Github = False
    summary: Summary = None
    explain: Explain = False
