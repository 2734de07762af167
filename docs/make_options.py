"""Write options.md from where the options are declared: python docs/make_options.py."""

from __future__ import annotations

from pathlib import Path

from fairrec.auditing.model_options import HOW_ASKED, HOW_SEARCHED
from fairrec.auditing.options import PlanOptions
from fairrec.cli.parameters import Flags
from fairrec.core.audit_options import About, AuditOptions, Engine, SharingOptions
from fairrec.core.options import flag
from fairrec.counterfactuals.options import CounterfactualOptions
from fairrec.counts.options import CountOptions
from fairrec.demo.world_options import WorldOptions
from fairrec.inputs.table_options import TableOptions
from fairrec.mitigation.options import MitigationOptions
from fairrec.trends.options import TrendOptions
from fairrec_paper.models.options import TrainingOptions
from fairrec_paper.reproduction.options import ReproduceOptions, SearchBenchOptions

PAGE = Path(__file__).with_name("options.md")
SECTIONS = (
    (
        "Tables",
        "`fairrec audit`, `count`, `plan`, `mitigate`, `rerank`, `search-bench`, `doctor`, "
        "`fairrec.audit()` (those from `columns` on, but `counts`, in `fairrec.Tables`), "
        "[settings files](plan.md)",
        Flags(TableOptions),
    ),
    (
        "Audit",
        "`fairrec audit`, `plan` and `mitigate`, `fairrec.audit()` (`permutations`, `alpha`, "
        "`max_undefined` and `top` in `fairrec.Statistics`), [settings files](plan.md)",
        Flags(AuditOptions),
    ),
    (
        "What is audited, in your words",
        "`fairrec audit` and `mitigate`, `fairrec.About`, settings files; no number depends on "
        "it, and no plan holds it",
        Flags(About),
    ),
    (
        "What is passed on",
        "`fairrec audit` and `save()` of its result; the audit is the same",
        Flags(SharingOptions),
    ),
    (
        "Counts",
        "`fairrec count`, `fairrec.count()`; see [large tables](scale.md)",
        Flags(CountOptions),
    ),
    (
        "Engine",
        "`fairrec count` and `audit` of [large tables](scale.md), `fairrec.Engine`; no number "
        "depends on it",
        Flags(Engine),
    ),
    ("Plan", "`fairrec plan`, `fairrec.plan()`, settings files", Flags(PlanOptions)),
    (
        "Counterfactual",
        "`fairrec counterfactual`, `fairrec.counterfactual()` (from `budget_users` on in "
        "`fairrec.Sample`); see [there](counterfactual.md)",
        Flags(CounterfactualOptions),
    ),
    ("Trend", "`fairrec trend`, `fairrec.trend()`", Flags(TrendOptions)),
    ("Search", "`fairrec audit --search NAME`, `fairrec.Search`", HOW_SEARCHED),
    ("Black-box model", "`fairrec audit`, `doctor`, `fairrec.Endpoint`", HOW_ASKED),
    ("Mitigation", "`fairrec mitigate`, `fairrec.mitigate()`", Flags(MitigationOptions)),
    ("Comparison of searchers", "`fairrec-paper search-bench`", Flags(SearchBenchOptions)),
    ("Synthetic data", "`fairrec-paper synthetic`", Flags(WorldOptions, without=("name",))),
    ("Training", "`fairrec-paper train`", Flags(TrainingOptions)),
    ("Experiments of the paper", "`fairrec-paper reproduce`", Flags(ReproduceOptions)),
)
INTRODUCTION = """# Options

The command line spells an option `--min-support 1%`, Python `min_support="1%"`; both read it alike.
An option that takes a list may be repeated or joined by commas: `--by gender --by age:10` is
`--by gender,age:10`. Numbers may be text.

On the command line, `fairrec audit --help` shows what nearly everyone needs and `--help-all` the
rest. In Python, what few need travels as one value each: `statistics=Statistics(permutations=200)`,
`tables=Tables(columns="user_id=uid")`, `engine=Engine(threads=2)`, `about=About(title="Spring")`,
`search=Search("adaptive", budget_users="10%")`, and for counterfactuals `sample=Sample(...)`.

This page is made by `docs/make_options.py` from where
the options are declared.
"""


def page() -> str:
    """The page as Markdown."""
    parts = [INTRODUCTION]
    for title, where, options in SECTIONS:
        parts.append(f"## {title}\n\n{where}\n\n| option | meaning | takes | default |")
        parts[-1] += "\n|---|---|---|---|"
        for name, option, default in options.list():
            written = flag(name)
            python = "" if written == f"--{name.replace('_', '-')}" else f" (`{name}`)"
            about, taken = (text.replace("|", "\\|") for text in (option.help, option.expected))
            shown = default if isinstance(default, str) else "must be given"
            parts[-1] += f"\n| `{written}`{python} | {about} | {taken} | {shown} |"
        parts[-1] += "\n"
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
