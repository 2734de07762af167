"""Write options.md from where the options are declared: python docs/make_options.py."""

from __future__ import annotations

from pathlib import Path

from fairrec.auditing.model_options import HOW_ASKED, HOW_SEARCHED
from fairrec.cli.parameters import Flags
from fairrec.core.audit_options import About, AuditOptions, Engine, SharingOptions
from fairrec.core.options import flag
from fairrec.counts.options import CountOptions
from fairrec.inputs.table_options import TableOptions

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
    ("Search", "`fairrec audit --search NAME`, `fairrec.Search`", HOW_SEARCHED),
    ("Black-box model", "`fairrec audit`, `doctor`, `fairrec.Endpoint`", HOW_ASKED),
)
INTRODUCTION = """# Options

The command line spells an option `--min-support 1%`, Python `min_support="1%"`. An option that
takes a list may be repeated or joined by commas: `--by gender --by age:10` is `--by gender,age:10`.

`fairrec audit --help` shows the common options, `--help-all` the rest. In Python, rare options
travel as one value each: `statistics=Statistics(permutations=200)`,
`tables=Tables(columns="user_id=uid")`, `engine=Engine(threads=2)`, `about=About(title="Spring")`,
`search=Search("adaptive", budget_users="10%")`, and for counterfactuals `sample=Sample(...)`.
Options of one command alone, such as `fairrec mitigate`, are on the pages of
[commands](reference/commands.md).

`docs/make_options.py` makes this page from the declarations.
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
            about, taken = (
                text.replace("|", "\\|") for text in (option.help, option.form.expected)
            )
            shown = default if isinstance(default, str) else "must be given"
            parts[-1] += f"\n| `{written}`{python} | {about} | {taken} | {shown} |"
        parts[-1] += "\n"
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
