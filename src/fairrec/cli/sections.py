"""A command whose help has its options under headings, and which knows near misses of flags."""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path
from typing import Any

import typer
import typer.core

from fairrec.cli.shared import ended_with_reader, shown_complaints
from fairrec.core.errors import TWINS
from fairrec.core.options import OUTPUT

_NAMES = frozenset({"--by", "--adjust-for", "--metrics", "--metric", "--by-items"})
"""Flags with names behind them."""


def _exists(word: str) -> bool:
    try:
        return Path(word).exists()
    except OSError:
        # longer than a name of a file may be
        return False


def _is_name(word: str) -> bool:
    """Whether it may be one more name, and is no flag and no file."""
    return not word.startswith("-") and not Path(word).suffix and not _exists(word)


def _known_flag(word: str, known: set[str]) -> str:
    """`--metrics` for `--metric` where a command has it alone, and the other way round."""
    flag, equals, value = word.partition("=")
    twin = f"--{TWINS.get(flag.removeprefix('--'), '')}"
    return f"{twin}{equals}{value}" if twin in known and flag not in known else word


class SectionedCommand(typer.core.TyperCommand):
    """A command whose help has its options under headings, in plain text."""

    def make_context(self, *words: Any, **how: Any) -> Any:
        """Take the words of the command apart, as `TyperCommand` does."""
        with ended_with_reader(), shown_complaints():
            return super().make_context(*words, **how)

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Read the words: a flag by its twin too, and names with blanks between them refused."""
        known = {flag for parameter in self.params for flag in parameter.opts}
        words = [_known_flag(word, known) for word in args]
        for at, flag in enumerate(words):
            names = [*takewhile(_is_name, words[at + 1 :])] if flag in _NAMES & known else []
            if len(names) > 1:
                joined = ",".join(name.strip(",") for name in names)
                raise typer.BadParameter(f"{flag} takes names with commas: {flag} {joined}")
        return super().parse_args(ctx, words)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options by heading."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            name, about = record
            if parameter.required:
                about = f"{about.removesuffix('[required]').rstrip()} Required."
            panel = getattr(parameter, "rich_help_panel", None) or "Options"
            if parameter.param_type_name == "argument":
                # some versions of typer add the type
                panel, name = "Arguments", name.partition(" <")[0]
            elif parameter.name == "help" and OUTPUT in sections:
                panel = OUTPUT
            sections.setdefault(panel, []).append((name, about))
        for panel, records in sections.items():
            with formatter.section(panel):
                formatter.write_dl(records)
