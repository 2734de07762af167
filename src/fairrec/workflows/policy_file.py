"""The file of a policy, and whether an audit is the one that its options ask for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairrec.core.errors import InputError, listed, plain
from fairrec.core.options import Blank, spelled
from fairrec.core.settings import SETTINGS_FILE, read_settings
from fairrec.metrics.matters import by_name
from fairrec.policy.schema import Policy, policy_in
from fairrec.result.schema import AuditSummary
from fairrec.result.summary import options_of
from fairrec.workflows.plan_options import SETTINGS


@dataclass(frozen=True, slots=True)
class PolicyFile:
    """A policy, the options of audits beside it, and where it stands, for errors."""

    policy: Policy
    options: Mapping[str, Any]
    where: str

    def refuse_other_audit(self, summary: AuditSummary) -> None:
        """An error where an audit was made otherwise than the options ask for.

        An audit by fewer attributes would pass without a look at those who are worse off.
        """
        if differing := [*_differing(self.options, summary)]:
            raise InputError(
                f"{self.where}: asks for another audit than this one: {'; '.join(differing)}. "
                "Audit as [audit] says, or change it there."
            )


def read_policy(file: str | Path) -> PolicyFile:
    """The policy in a settings file."""
    file = Path(file)
    if file.name == SETTINGS_FILE and not file.exists():
        raise InputError(
            f"There is no {plain(file, 300)}, and no other policy was named. Let fairrec init "
            f"AUDIT write one, or name it: {spelled('policy', Blank('FILE'))}"
        )
    settings = read_settings(file, SETTINGS)
    policy = policy_in(settings.content, settings.where)
    return PolicyFile(policy, settings.values, settings.where)


def _differing(asked: Mapping[str, Any], summary: AuditSummary) -> Iterator[str]:
    """What is otherwise in an audit, as far as its result tells."""
    if missing := [name for name in asked.get("by", ()) if name not in summary.by]:
        yield f"it is not by {listed(missing)}"
    given = summary.given.named if summary.given else ()
    if "given" in asked and {*asked["given"]} != {*given}:
        yield f"given is {listed(given) or 'nothing'}, not {listed(asked['given'])}"
    if asked.get("matters") is not None:
        matters = str(by_name(asked["matters"], [*summary.metrics]))
        if matters != summary.matters:
            yield f"matters is {plain(summary.matters)}, not {plain(matters)}"
    for name, found in options_of(summary).items():
        if name in ("matters", "permutations", "seed"):
            continue  # more permutations and another seed ask the same
        wanted = asked.get(name)
        if wanted is not None and str(wanted) != str(found):
            yield f"{name} is {plain(found)}, not {plain(wanted)}"
