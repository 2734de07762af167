"""Write options.md from where the options are declared: python docs/make_options.py."""

from __future__ import annotations

from pathlib import Path

from fairrec.cli.parameters import FieldsOf
from fairrec.core.audit_options import AuditOptions
from fairrec.core.options import from_command_line, spelled
from fairrec.datasets.world_options import WorldOptions
from fairrec.inputs.table_options import TableOptions
from fairrec.mitigation.options import MitigationOptions
from fairrec.models.deep.training_options import TrainingOptions
from fairrec.reproduction.options import ReproduceOptions
from fairrec.scoring.http.endpoint_options import EndpointOptions
from fairrec.search.bench_options import SearchBenchOptions
from fairrec.search.options import SearchOptions

PAGE = Path(__file__).with_name("options.md")
SECTIONS = (
    ("Tables", "`fairrec audit`, `mitigate`, `rerank`, `search-bench`, `doctor`", TableOptions),
    ("Audit", "`fairrec audit` and `mitigate`, `fairrec.audit()`", AuditOptions),
    ("Search", "`fairrec audit --search NAME`, `fairrec.SearchOptions`", SearchOptions),
    ("Model that is asked", "`fairrec audit`, `doctor`, `fairrec.Endpoint`", EndpointOptions),
    ("Mitigation", "`fairrec mitigate`, `fairrec.mitigate()`", MitigationOptions),
    ("Comparison of searchers", "`fairrec search-bench`", SearchBenchOptions),
    ("Synthetic world", "`fairrec synthetic`", WorldOptions),
    ("Training", "`fairrec train`", TrainingOptions),
    ("Experiments of the paper", "`fairrec reproduce`", ReproduceOptions),
)
INTRODUCTION = """# Options

The command line spells an option `--min-support 1%`, Python `min_support="1%"`; both read it alike.
An option that takes a list may be repeated or joined by commas: `--by gender --by age:10` is
`--by gender,age:10`. Numbers may be text. This page is made by `docs/make_options.py` from where
the options are declared.
"""


def page() -> str:
    """The page as Markdown."""
    parts = [INTRODUCTION]
    for title, where, options in SECTIONS:
        parts.append(f"## {title}\n\n{where}\n\n| option | meaning | takes | default |")
        parts[-1] += "\n|---|---|---|---|"
        for name, option, default in FieldsOf(options).flags():
            with from_command_line():
                flag = spelled(name)
            python = "" if flag == f"--{name.replace('_', '-')}" else f" (`{name}`)"
            taken = option.kind.expected.replace("|", "\\|")
            shown = default if isinstance(default, str) else "must be given"
            parts[-1] += f"\n| `{flag}`{python} | {option.help} | {taken} | {shown} |"
        parts[-1] += "\n"
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
