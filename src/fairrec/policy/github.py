"""The outcome of a gate as annotations that GitHub shows beside a change."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fairrec.policy.outcome import GateResult


def to_annotations(gate: GateResult) -> str:
    """One workflow command for each rule that does not pass; nothing where all do."""
    return "".join(
        f"::{'error' if gate.counts_as_failed(rule) else 'warning'} "
        f"title={_property(f'FairRec {rule.outcome}')}::"
        f"{_data(f'{rule.what}: {rule.measured}')}\n"
        for rule in gate.rules
        if rule.outcome != "passed"
    )


@contextmanager
def as_text(echo: Callable[[str], None]) -> Iterator[None]:
    """Let GitHub see no command in what is printed meanwhile, which may hold outside text.

    Parameters
    ----------
    echo : prints a line
    """
    token = secrets.token_hex(16)
    echo(f"::stop-commands::{token}")
    try:
        yield
    finally:
        echo(f"::{token}::")


def as_json_text(document: str) -> str:
    """A JSON document that says the same, in which GitHub sees no command of the old style."""
    return document.replace("##[", "#\\u0023[")


def _data(text: str) -> str:
    """Text that cannot end the command or begin another one."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
