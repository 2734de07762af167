"""The command line: parse, call the library, print, exit code."""

from __future__ import annotations

from fairrec.cli.app import make_app, run_app
from fairrec.commands.audit import audit_command
from fairrec.commands.count import count_command
from fairrec.commands.doctor import doctor_command
from fairrec.commands.list import list_command
from fairrec.commands.report import card_command, mlflow_command, report_command
from fairrec.comparison.command import compare_command
from fairrec.counterfactuals.command import counterfactual_command
from fairrec.demo.command import demo_command
from fairrec.gating.command import gate_command, init_command
from fairrec.mitigation.command import mitigate_command, rerank_command
from fairrec.planning.command import plan_command
from fairrec.trends.command import trend_command

app = make_app(
    "fairrec",
    "Test whether a recommender system serves some groups of people worse than others.",
    {
        "Audit": {
            "demo": demo_command,
            "plan": plan_command,
            "count": count_command,
            "audit": audit_command,
            "counterfactual": counterfactual_command,
        },
        "Results": {
            "report": report_command,
            "compare": compare_command,
            "trend": trend_command,
            "card": card_command,
            "mlflow": mlflow_command,
        },
        "Gate": {"init": init_command, "gate": gate_command},
        "Mitigation": {"mitigate": mitigate_command, "rerank": rerank_command},
        "Help": {"doctor": doctor_command, "list": list_command},
    },
)


def main() -> None:
    """Run the command line."""
    run_app(app)
