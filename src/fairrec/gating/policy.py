"""A policy as a settings file states it, and what a gate found: the JSON of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    BeforeValidator,
    Field,
    PlainSerializer,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from fairrec.core.errors import (
    FAILED,
    INCONCLUSIVE,
    PASSED,
    InputError,
    UnknownNameError,
    plain,
    unknown_name,
)
from fairrec.core.option_types import parse_number, split_pairs
from fairrec.core.tolerance import Amount, parse_amount
from fairrec.core.version import __version__
from fairrec.gating.options import Inconclusive
from fairrec.inputs.users import Value
from fairrec.result.parts import Part

RuleKind = Literal["max_worse", "max_difference", "min_ratio", "baseline", "trend", "max_affected"]
KINDS: tuple[RuleKind, ...] = get_args(RuleKind)
"""What a rule can limit; each rule has one of them."""


def _read_by(parse: Callable[[Any], Any], expected: str) -> BeforeValidator:
    """Read by a function whose ValueError is worded like this."""

    def read(given: Any) -> Any:
        try:
            return parse(given)
        except ValueError as error:
            expects = {"expected": expected}
            raise PydanticCustomError("unfit", "Input should be {expected}", expects) from error

    return BeforeValidator(read)


Limit = Annotated[
    Amount,
    _read_by(parse_amount, 'an amount above 0 such as 0.03, or a share of the mean such as "5%"'),
    PlainSerializer(lambda amount: str(amount) if amount.is_share else amount.size),
    WithJsonSchema(
        {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "string", "pattern": "%$"}]}
    ),
]
_NUMBER = _read_by(parse_number, "a number")


def _group(given: Any) -> dict[str, str]:
    return {name: str(value) for name, value in split_pairs(given).items()}


NamedGroup = Annotated[
    dict[str, str],
    _read_by(_group, "a group such as \"gender=F,age=56+\" or {gender = 'F', age = '56+'}"),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string"},
                {"type": "object", "additionalProperties": {"type": "string"}},
            ]
        }
    ),
]


class Rule(Part):
    """One limit for one metric."""

    metric: str = Field(description="as the audit names it, such as ndcg@10")
    max_worse: Limit | None = Field(
        default=None,
        description="no group is worse than all others by more; the tolerance of the audit where "
        "no limit is given",
    )
    max_difference: Limit | None = Field(
        default=None, description="no group differs by more, in either direction"
    )
    min_ratio: Annotated[float, _NUMBER, Field(gt=0, lt=1)] | None = Field(
        default=None,
        description="the value of no group is a smaller share of that of all others; where less is "
        "better, that of all others of the group's",
    )
    baseline: Literal["no_group_worse"] | None = Field(
        default=None, description="no group is worse than in the baseline"
    )
    tolerance: Limit | None = Field(
        default=None,
        description="by how much it may be, with baseline; the tolerance where it is not given",
    )
    trend: Literal["not_worse"] | None = Field(
        default=None, description="no group became worse over the audits before this one"
    )
    max_affected: Annotated[float, _NUMBER, Field(ge=0, lt=1)] | None = Field(
        default=None,
        description="of a counterfactual: the largest share of all users for whom the change makes "
        "another list",
    )
    unknown: Literal["worst"] | None = Field(
        default=None,
        description='"worst": with max_worse or max_difference, the limit holds whichever of the '
        "users with unknown attributes belong to a group",
    )
    groups: Annotated[
        tuple[NamedGroup, ...],
        BeforeValidator(lambda given: [given] if isinstance(given, str | Mapping) else given),
    ] = Field(default=(), description="the groups it is about; all where none is named")
    severity: Literal["fail", "warn"] = Field(
        default="fail", description="warn never changes whether the gate passes"
    )

    @model_validator(mode="after")
    def _refuse_together(self) -> Rule:
        given = [name for name in KINDS if getattr(self, name) is not None]
        if len(given) > 1:
            reason = f"has {' and '.join(given)}, and a rule has one limit. Make it two rules"
        elif self.tolerance is not None and self.baseline is None:
            reason = 'has tolerance, which goes with baseline = "no_group_worse"'
        elif self.unknown is not None and self.kind not in ("max_worse", "max_difference"):
            reason = "has unknown, which goes with max_worse or max_difference"
        elif self.max_affected is not None and self.groups:
            reason = "has max_affected, which is about all users, and names groups"
        else:
            return self
        raise PydanticCustomError("together", "{reason}", {"reason": reason})

    @property
    def kind(self) -> RuleKind:
        """What it limits."""
        return next((name for name in KINDS if getattr(self, name) is not None), "max_worse")

    @property
    def limit(self) -> Amount | None:
        """The limit as it was given, on a harm in units of the metric."""
        return self.max_worse or self.max_difference or self.tolerance


class Require(Part):
    """What must be so for rules to mean anything."""

    max_undefined: Annotated[float, _NUMBER, Field(ge=0, le=1)] | None = Field(
        default=None, description="the largest share of users without a value"
    )
    certify_from: Annotated[int, _NUMBER, Field(ge=1)] | None = Field(
        default=None,
        description="groups of at least that many users must be ruled out, smaller ones may stay "
        "open; every group of the fewest attributes where it is not given",
    )


class Policy(Part):
    """What a gate asks of a recommender: `[[rule]]` and `[require]` of a settings file."""

    rule: tuple[Rule, ...] = Field(min_length=1)
    require: Require = Require()


def parse_policy(content: Mapping[str, Any], where: str) -> Policy:
    """The policy among the tables of a file.

    Parameters
    ----------
    where : the file, for errors
    """
    tables = {name: content[name] for name in Policy.model_fields if name in content}
    if not tables.get("rule"):
        raise InputError(
            f"{where}: has no rule, so there is nothing to pass. Let fairrec init write one from "
            'an audit, or add one:\n[[rule]]\nmetric = "ndcg@10"\nmax_worse = 0.03'
        )
    try:
        return Policy.model_validate(tables)
    except ValidationError as error:
        raise _in_words(error.errors()[0], where) from error


def _in_words(error: Any, where: str) -> InputError | UnknownNameError:
    """The first thing that is wrong with a policy."""
    table, *place = error["loc"]
    where = f"{where}: {table}"
    if place and isinstance(place[0], int):
        where = f"{where} {place.pop(0) + 1}"
    if error["type"] == "extra_forbidden":
        known = Rule if table == "rule" else Require
        return UnknownNameError(
            f"{where}: {unknown_name('key', str(place[0]), known.model_fields)}"
        )
    name = "".join(f"{plain(part)}: " for part in place[:1])
    given = (
        "" if error["type"] in ("missing", "together") else f", not {plain(repr(error['input']))}"
    )
    return InputError(f"{where}: {name}{error['msg']}{given}.")


Passing = Literal["failed", "inconclusive", "passed"]


class JudgedGroup(Part):
    """A group that a rule was decided by."""

    group: dict[str, Value]
    label: str
    support: int = Field(description="its users")
    measured: float | None = Field(
        description="how much worse it is, in units of the limit; null where the baseline or the "
        "audit has no value of it"
    )
    interval: tuple[float | None, float | None] = Field(
        description="of that, for all groups and metrics at once; an end is null without a limit"
    )


class RuleOutcome(Part):
    """What became of one rule."""

    number: int = Field(description="its place in the policy, from 1; 0 for what is required")
    kind: RuleKind | Literal["max_undefined"]
    metric: str
    severity: Literal["fail", "warn"]
    outcome: Passing
    limit: float = Field(description="in units of the metric, or of the ratio")
    what: str = Field(description="what the rule asks for, in words")
    measured: str = Field(description="what was measured, in words")
    explanation: str = Field(description="what would have to be true for it to pass, in words")
    decided_by: JudgedGroup | None = Field(
        default=None, description="null where it is about no single group"
    )
    n_failed: int = Field(default=0, description="groups shown to be beyond the limit")
    n_open: int = Field(default=0, description="groups that had to be ruled out and are not")
    n_ruled_out: int = Field(default=0, description="groups that had to be ruled out and are")


class GateResult(Part):
    """The content of a gate's JSON."""

    schema_version: Literal["1"] = "1"
    fairrec_version: str = __version__
    title: str
    model: str
    baseline: str | None = Field(description="null where none was given")
    inconclusive: Inconclusive | None = Field(
        description="what an inconclusive rule counts as; null for neither"
    )
    outcome: Passing
    exit_code: int
    look: str = Field(description="where to look deeper, in words; empty where nothing is saved")
    policy: Policy
    rules: tuple[RuleOutcome, ...]

    def __str__(self) -> str:
        from fairrec.gating.reports import to_text

        return to_text(self)

    def __repr__(self) -> str:
        """One line a rule, and the outcome of all."""
        return str(self)

    @property
    def has_passed(self) -> bool:
        """Whether nothing stands in the way."""
        return self.exit_code == PASSED

    def counts_as_failed(self, rule: RuleOutcome) -> bool:
        """Whether a rule makes the gate fail."""
        is_failed = rule.outcome == "failed" or (
            rule.outcome == "inconclusive" and self.inconclusive == "fail"
        )
        return is_failed and rule.severity == "fail"


def combine_outcomes(
    rules: tuple[RuleOutcome, ...], inconclusive: Inconclusive | None
) -> tuple[Passing, int]:
    """The outcome of all rules, and the exit code; warnings change neither."""
    found = {rule.outcome for rule in rules if rule.severity == "fail"}
    if "failed" in found:
        return "failed", FAILED
    if "inconclusive" in found:
        codes = {"fail": FAILED, "pass": PASSED, None: INCONCLUSIVE}
        return "inconclusive", codes[inconclusive]
    return "passed", PASSED
