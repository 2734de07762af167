"""The command line: parse, call the library, print, exit code."""

from __future__ import annotations

from fairrec.cli.audit import audit_command, demo_command
from fairrec.cli.commands import make_app, run_app
from fairrec.cli.compare import compare_command, trend_command
from fairrec.cli.count import count_command
from fairrec.cli.counterfactual import counterfactual_command
from fairrec.cli.doctor import doctor_command
from fairrec.cli.gate import gate_command, init_command
from fairrec.cli.list import list_command
from fairrec.cli.mitigate import mitigate_command, rerank_command
from fairrec.cli.plan import plan_command
from fairrec.cli.report import card_command, mlflow_command, report_command

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
