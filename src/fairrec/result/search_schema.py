"""How users were chosen for scoring: its part of `result.json`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fairrec.result.parts import Part


class HistoryPoint(Part):
    """What a search had found by then."""

    users: int = Field(description="scored so far")
    gap: float


class SearchedMetric(Part):
    """What a search came to for one metric."""

    may_be_larger_by: float | None = Field(
        description="the exact gap is not larger by more than this, with the confidence stated; "
        "null where the searcher gives no bound"
    )
    history: tuple[HistoryPoint, ...]


class Spent(Part):
    """What the scores in a ledger have cost; how long the calls took is in `run.json`."""

    users: int
    rows: int
    calls: int


class SearchSummary(Part):
    """How users were chosen for scoring."""

    name: str
    users_scored: int
    users_total: int
    ending: Literal["finished", "users spent", "time spent"] = "finished"
    budget_users: int | None = None
    budget_seconds: float | None = None
    hyper_parameters: dict[str, float | None] = Field(default_factory=dict)
    users_reference: int = Field(
        default=0, description="scored first, at random; tests against chance rest on them"
    )
    confidence: float | None = Field(default=None, description="of may_be_larger_by")
    n_fully_scored: int = Field(
        default=0, description="full combinations of which every user is scored"
    )
    n_not_fully_scored: int = Field(default=0, description="the other eligible ones")
    model_identity: str = Field(
        default="",
        description="the model that was asked for scores, as its ledger names it; empty for a "
        "table and for a function without a name",
    )
    users_paid: int = Field(default=0, description="scored by the model in this run")
    users_before: int = Field(default=0, description="users whose scores the ledger had")
    rows_paid: int = 0
    calls: int = Field(default=0, description="of the model in this run")
    faults: dict[str, int] = Field(
        default_factory=dict, description="of the endpoint in this run, each tried again: kind -> n"
    )
    spent_in_all: Spent | None = Field(
        default=None,
        description="for the scores in the ledger, by this run and all before it; null where no "
        "ledger is kept in a file",
    )
    has_table: bool = Field(
        default=False,
        description="every score was in a table, so that an audit without a search is exact",
    )
    metrics: dict[str, SearchedMetric] = Field(default_factory=dict)
