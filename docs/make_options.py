"""Write options.md from where the options are declared: python docs/make_options.py."""

from __future__ import annotations

from pathlib import Path

from fairrec.auditing.model_options import HOW_ASKED, HOW_SEARCHED
from fairrec.auditing.options import CounterfactualOptions, PlanOptions, TrendOptions
from fairrec.cli.parameters import FieldsOf
from fairrec.core.audit_options import AboutOptions, AuditOptions, SharingOptions
from fairrec.core.options import from_command_line, spelled
from fairrec.counts.options import CountOptions, CountsOptions, EngineOptions
from fairrec.demo.world_options import WorldOptions
from fairrec.inputs.table_options import TableOptions
from fairrec.mitigation.options import MitigationOptions
from fairrec_paper.bench_options import SearchBenchOptions
from fairrec_paper.models.options import TrainingOptions
from fairrec_paper.reproduction.options import ReproduceOptions

PAGE = Path(__file__).with_name("options.md")
SECTIONS = (
    (
        "Tables",
        "`fairrec audit`, `count`, `plan`, `mitigate`, `rerank`, `search-bench`, `doctor`, "
        "[settings files](plan.md)",
        FieldsOf(TableOptions),
    ),
    (
        "Audit",
        "`fairrec audit`, `plan` and `mitigate`, `fairrec.audit()`, [settings files](plan.md)",
        FieldsOf(AuditOptions),
    ),
    (
        "What is audited, in your words",
        "`fairrec audit` and `mitigate`, `fairrec.audit()`, settings files; no number depends on "
        "it, and no plan holds it",
        FieldsOf(AboutOptions),
    ),
    (
        "What is passed on",
        "`fairrec audit` and `save()` of its result; the audit is the same",
        FieldsOf(SharingOptions),
    ),
    (
        "Counts",
        "`fairrec count`, `fairrec.count()`; see [large tables](scale.md)",
        FieldsOf(CountOptions),
    ),
    ("Audit of counts", "`fairrec audit`, `fairrec.audit()`", FieldsOf(CountsOptions)),
    (
        "Engine",
        "`fairrec count` and `audit` of [large tables](scale.md); no number depends on it",
        FieldsOf(EngineOptions),
    ),
    ("Plan", "`fairrec plan`, `fairrec.plan()`, settings files", FieldsOf(PlanOptions)),
    (
        "Counterfactual",
        "`fairrec counterfactual`, `fairrec.counterfactual()`; see [there](counterfactual.md)",
        FieldsOf(CounterfactualOptions),
    ),
    ("Trend", "`fairrec trend`, `fairrec.trend()`", FieldsOf(TrendOptions)),
    ("Search", "`fairrec audit --search NAME`, `fairrec.SearchOptions`", HOW_SEARCHED),
    ("Black-box model", "`fairrec audit`, `doctor`, `fairrec.Endpoint`", HOW_ASKED),
    ("Mitigation", "`fairrec mitigate`, `fairrec.mitigate()`", FieldsOf(MitigationOptions)),
    ("Comparison of searchers", "`fairrec-paper search-bench`", FieldsOf(SearchBenchOptions)),
    ("Synthetic data", "`fairrec-paper synthetic`", FieldsOf(WorldOptions, without=("name",))),
    ("Training", "`fairrec-paper train`", FieldsOf(TrainingOptions)),
    ("Experiments of the paper", "`fairrec-paper reproduce`", FieldsOf(ReproduceOptions)),
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
        for name, option, default in options.flags():
            with from_command_line():
                flag = spelled(name)
            python = "" if flag == f"--{name.replace('_', '-')}" else f" (`{name}`)"
            about, taken = (
                text.replace("|", "\\|") for text in (option.help, option.kind.expected)
            )
            shown = default if isinstance(default, str) else "must be given"
            parts[-1] += f"\n| `{flag}`{python} | {about} | {taken} | {shown} |"
        parts[-1] += "\n"
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
