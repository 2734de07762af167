"""The options of a gate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from fairrec.core.option_types import Folder, Switch
from fairrec.core.options import Option, Options, options
from fairrec.core.settings import SETTINGS_FILE

GATE = "Gate"
Inconclusive = Literal["fail", "pass"]


@options
class GateOptions(Options):
    """What an audit is held against, and where the outcome goes."""

    policy: Annotated[
        Path,
        Option(
            "A file with [[rule]] and [require]",
            GATE,
            default=f"{SETTINGS_FILE} in the working folder",
        ),
    ] = Path(SETTINGS_FILE)
    baseline: Annotated[Folder | None, Option("Baseline audit, for rules with baseline", GATE)] = (
        None
    )
    releases: Annotated[
        Folder | None, Option("Audits of earlier releases, for rules with trend", GATE)
    ] = None
    inconclusive: Annotated[
        Inconclusive | None,
        Option("What an inconclusive rule counts as", GATE, default="neither, and exit code 3"),
    ] = None
    junit: Annotated[Path | None, Option("Write JUnit XML, one test case per rule", GATE)] = None
    github: Annotated[
        Switch, Option("Print annotations for GitHub, and add to its job's summary", GATE)
    ] = False
    summary: Annotated[Path | None, Option("Write the outcome as Markdown", GATE)] = None
    explain: Annotated[Switch, Option("Explain what rules that do not pass would need", GATE)] = (
        False
    )
