"""The JSON schema of every JSON file of ours."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fairrec.core.errors import unknown_name

if TYPE_CHECKING:
    from pydantic import BaseModel


@dataclass(frozen=True, slots=True)
class JsonFile:
    """A kind of file that we write.

    Parameters
    ----------
    home : module and name of the model behind it, which is loaded when its schema is asked for; it
        has a field `schema_version`, unless people write the file
    about : what it holds, in a line
    is_written_by_people : as a policy is, in a file that may hold other things too
    """

    home: str
    about: str
    is_written_by_people: bool = False

    def model(self) -> type[BaseModel]:
        """The model behind the file."""
        module, _, name = self.home.partition(":")
        found: type[BaseModel] = getattr(import_module(module), name)
        return found


FILES = {
    "result": JsonFile(
        "fairrec.result.schema:AuditSummary", "result.json of an audit: all of its figures"
    ),
    "run": JsonFile(
        "fairrec.result.folder:AuditRun",
        "run.json of an audit: when it was made, from and to which paths",
    ),
    "mitigation": JsonFile(
        "fairrec.mitigation.result:MitigationSummary",
        "mitigation.json: what a re-ranking did, before and after",
    ),
    "reranker": JsonFile(
        "fairrec.mitigation.result:RerankerRecord",
        "reranker.json: all that is needed to apply a re-ranker to new lists",
    ),
    "counts": JsonFile(
        "fairrec.counts.table:CountsInfo",
        "the metadata of counts.parquet under fairrec",
    ),
    "comparison": JsonFile(
        "fairrec.comparison.result:ComparisonSummary",
        "comparison.json: what changed from one audit to another",
    ),
    "counterfactual": JsonFile(
        "fairrec.counterfactuals.result:CounterfactualSummary",
        "counterfactual.json: what changes for the same people with another attribute",
    ),
    "trend": JsonFile(
        "fairrec.trends.result:TrendSummary",
        "trend.json: groups over releases, and since which one they are worse",
    ),
    "gate": JsonFile(
        "fairrec.gating.policy:GateResult", "fairrec gate --format json: the outcome of each rule"
    ),
    "policy": JsonFile(
        "fairrec.gating.policy:Policy",
        "rule and require of a fairrec.toml: what a gate asks for",
        is_written_by_people=True,
    ),
}
"""By name."""


def schema(name: str) -> dict[str, Any]:
    """The JSON schema of a file that this version writes.

    Parameters
    ----------
    name : one of `fairrec list schema`: `result`, `run`, `mitigation`, ...

    Examples
    --------
    >>> import fairrec
    >>> fairrec.schema("result")["$id"]
    'urn:fairrec:schema:result:1'
    """
    if name not in FILES:
        raise unknown_name("schema", name, FILES)
    file = FILES[name]
    model = file.model()
    described = model.model_json_schema(
        mode="validation" if file.is_written_by_people else "serialization"
    )
    version = "1"
    if file.is_written_by_people:
        del described["additionalProperties"]
    else:
        version = model.model_fields["schema_version"].default
        # it has a default, and is always written
        described["required"] = ["schema_version", *described["required"]]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        # a name that stays, and no address: there is nothing to fetch
        "$id": f"urn:fairrec:schema:{name}:{version}",
        **described,
        "title": f"{file.about.partition(':')[0]}, schema version {version}",
    }
