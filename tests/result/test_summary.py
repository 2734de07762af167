"""The summary of an audit: coverage, notes, users who are missing, and the search."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec import SearchOptions
from fairrec.core.audit_options import AuditOptions
from fairrec.groups.grouping import Grouping
from fairrec.inputs.tables import Table
from fairrec.inputs.users import Attribute
from fairrec.result.schema import MOST_VALUES, CatalogueExposure, catalogue_part
from fairrec.result.summary import (
    SHARES_SHOWN,
    SMALL_VALUES_SHOWN,
    VALUES_SHOWN,
    _points,
    attribute_summaries,
    coverage,
    input_summaries,
)
from fairrec.search.evidence import GapHistory
from fairrec.statistics.inequality import Represented, SpreadOver
from tests.builders import audit, make_tables, one_each, two_groups

# a: 4 of x, 2 of y, 1 of z; nobody has z with q
FIRST = Attribute("a", np.array([0, 0, 0, 0, 1, 1, 2]), ("x", "y", "z"), n_missing=1)
SECOND = Attribute("b", np.array([0, 0, 1, 1, 0, 1, 0]), ("p", "q"), binning="width 20")


def grouping(*attributes: Attribute, min_support: float = 2) -> Grouping:
    return Grouping.of(attributes, AuditOptions(depth=2, min_support=min_support, threads=1))


def test_groups_and_users_below_the_support_are_counted():
    found = coverage(grouping(FIRST, SECOND), 2)
    assert (found.min_support, found.min_users) == (2, 2)
    # of the values x, y, p and q are large enough, z is not; of pairs only x with p and with q
    depths = {size: (one.n_groups, one.n_groups_below) for size, one in found.by_depth.items()}
    assert depths == {"1": (4, 1), "2": (2, 3)}
    assert (found.n_full_possible, found.n_full_observed, found.n_full) == ("6", 5, 2)
    assert found.n_users_below == 3


def test_values_are_told_with_their_users_the_largest_first():
    first, second = attribute_summaries(grouping(FIRST, SECOND)).values()
    assert first.values == {"x": 4, "y": 2, "z": 1}
    assert [*first.values] == ["x", "y", "z"]
    assert first.small_values == {"z": 1}
    assert (first.n_values, first.n_values_below_support, first.n_missing) == (3, 1, 1)
    assert (first.binning, second.binning) == (None, "width 20")
    assert second.small_values == {}


def test_of_very_many_values_the_largest_are_named():
    n_users = np.arange(1, 101)
    codes = np.repeat(np.arange(100), n_users)
    many = Attribute("a", codes, tuple(f"v{i}" for i in range(100)))
    (found,) = attribute_summaries(grouping(many, min_support=61)).values()
    assert [*found.values.values()] == [*range(100, 100 - VALUES_SHOWN, -1)]
    assert [*found.small_values.values()] == [*range(60, 60 - SMALL_VALUES_SHOWN, -1)]
    assert found.n_values_below_support == 60


def test_tables_are_named_with_the_checksum_of_their_file(tmp_path: Path):
    frame = pl.DataFrame({"user_id": [1]})
    path = tmp_path / "users.parquet"
    frame.write_parquet(path)
    found = input_summaries({"users": Table(path, "users"), "items": Table(frame, "items")})
    assert found["users"].name == "users.parquet"
    assert found["users"].sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert found["items"].name == "the items table"
    assert found["items"].sha256 is None


def test_metrics_stand_in_the_order_they_were_asked_for():
    tables = make_tables()
    names = ["pooled_auc", "mrr@3", "auc"]
    result = audit(tables.predictions, tables.users, "gender,member", metrics=names)
    assert [*result.metrics] == names
    summary = result.summary
    assert (summary.by, [*summary.attributes]) == (("gender", "member"), ["gender", "member"])
    assert summary.n_users == tables.users.height
    assert summary.n_candidates == tables.predictions.height
    assert (summary.permutations, summary.seed) == (39, 0)
    assert set(summary.versions) == {"python", "numpy", "polars", "scipy", "numba"}


def notes(predictions=None, users=None, by="group", **options) -> tuple[str, ...]:
    given = two_groups()
    predictions = given[0] if predictions is None else predictions
    return audit(predictions, given[1] if users is None else users, by, **options).warnings


def test_an_audit_without_oddities_has_no_note():
    assert notes() == ()


def test_groups_without_a_pooled_value_are_counted():
    (pooled,) = notes(
        one_each({f"u{i}": 1 if i % 2 else None for i in range(8)}), metrics="pooled_auc"
    )
    assert pooled.startswith("pooled_auc is undefined for groups with 4 users in all")


def test_a_gap_that_cannot_be_told_is_noted():
    predictions, users = two_groups(4, a=["x", "x", "y", "y"], b=["p", "q", "p", "q"])
    (said,) = notes(predictions, users, "a,b", min_support=2)
    assert said.startswith("no full combination of the 2 attributes has 2 users")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"permutations": 0}, "no permutations: the null distribution, p-values"),
        ({"permutations": 9}, "9 permutations cannot give a p-value of 0.05; use at least 19"),
    ],
)
def test_tests_that_cannot_find_anything_are_noted(options, says):
    (said,) = notes(**options)
    assert said.startswith(says)


def test_few_permutations_are_not_said_to_find_nothing_where_they_can():
    users = pl.DataFrame({"user_id": range(60), "group": ["a", "b"] * 30})
    values = pl.DataFrame({"user_id": range(60), "clicks": [i % 2 + i / 100 for i in range(60)]})
    result = fairrec.audit(values=values, users=users, by="group", permutations=19)
    assert [one.p_adjusted for one in result.metric("clicks").findings] == [1 / 20]
    assert not any("permutations" in one for one in result.warnings)


def test_what_is_said_of_a_table_that_is_both_values_and_users_is_said_once(tmp_path: Path):
    path = tmp_path / "v.csv"
    path.write_text("user_id;group;x\na;p;1\nb;q;2\nc;p;3\nd;q;4\n")
    said = "v.csv: fields are separated by a semicolon, not by a comma"
    result = fairrec.audit(values=path, by="group", permutations=0, min_support=1)
    assert result.warnings.count(said) == 1


@pytest.mark.parametrize(("n_last", "is_told"), [(8, True), (7, True), (5, False), (0, False)])
def test_scores_that_put_what_is_relevant_last_are_to_be_checked(n_last, is_told):
    lists = [
        (user, item, item / 10, int(item == (0 if user % 10 < n_last else 9)))
        for user in range(100)
        for item in range(10)
    ]
    predictions = pl.DataFrame(lists, schema=["user_id", "item_id", "score", "label"], orient="row")
    users = pl.DataFrame({"user_id": range(100), "group": ["a", "b"] * 50})
    said = notes(predictions, users, metrics="auc", permutations=99)
    checks = [note for note in said if note.startswith("check: the mean auc is ")]
    assert len(checks) == is_told
    assert all("Higher scores must mean better" in check for check in checks)


def missing_half(n_groups: int):
    """Twelve users a group; of the first group nobody has a relevant item."""
    n_users = 12 * n_groups
    predictions = one_each({user: None if user < 12 else 1 + user % 2 for user in range(n_users)})
    users = pl.DataFrame(
        {"user_id": range(n_users), "group": [f"g{u // 12:02}" for u in range(n_users)]}
    )
    return audit(predictions, users, "group", permutations=99, min_support=2)


def test_groups_that_differ_are_findings_of_shares():
    (missing,) = missing_half(6).summary.missing
    assert missing.is_tested
    (finding,) = missing.findings
    assert finding.group == {"group": "g00"}
    assert (finding.value, finding.difference, finding.support) == (1, 1, 12)
    assert finding.p_adjusted <= 0.05
    low, high = finding.interval
    assert 0 < low <= 1 <= high


def test_at_most_fifty_shares_are_kept_the_largest_first():
    assert SHARES_SHOWN == 50
    (missing,) = missing_half(60).summary.missing
    assert len(missing.shares) == 50
    values = [end.value for end in missing.shares]
    assert values == sorted(values, reverse=True)
    # of equal shares the first groups, in their order
    assert [end.group["group"] for end in missing.shares[:3]] == ["g00", "g01", "g02"]


def test_the_history_has_the_points_at_which_the_gap_grew_and_the_last_one():
    history = GapHistory(2)
    for users, gaps in ((5, (0.0, 0.1)), (9, (0.2, 0.1)), (12, (0.2, 0.1)), (20, (0.3, 0.1))):
        history.add(users, 0.0, np.array(gaps), 1)
    first, second = ([(p.users, p.gap) for p in _points(history, metric)] for metric in (0, 1))
    assert first == [(5, 0.0), (9, 0.2), (20, 0.3)]
    # the last one says how far the search has come
    assert second == [(5, 0.1), (20, 0.1)]
    assert _points(GapHistory(1), 0) == ()


def test_options_and_costs_are_told_as_they_were():
    tables = make_tables()
    options = SearchOptions("testsgd", budget_users=30, reference=0.2, hyper={"theta": 0.05})
    found = audit(tables.predictions, tables.users, "gender,member", search=options).summary.search
    assert (found.name, found.budget_users, found.budget_seconds) == ("testsgd", 30, None)
    assert found.hyper_parameters == {"theta": 0.05}
    assert found.users_reference == 6
    assert found.users_scored == found.users_paid == 30
    assert found.ending == "users spent"
    # no ledger is kept in a file, and the scores are in the table
    assert (found.spent_in_all, found.model_identity, found.faults) == (None, "", {})
    assert found.n_fully_scored + found.n_not_fully_scored == 6


def part_of(n_items: list[int], n_shown: list[int]) -> CatalogueExposure:
    kind = Attribute("kind", np.zeros(0, dtype=np.int32), tuple(range(len(n_items))))
    of_kind = Represented(kind, math.nan, None, np.array(n_items), np.array(n_shown))
    return catalogue_part(SpreadOver(5, 10, 20, 4, 0.5, None, (of_kind,)))


def test_values_of_most_items_are_told_in_their_order():
    n = [*range(1, MOST_VALUES + 3)]
    shown = part_of([*n, 0], [*n, 0]).representation["kind"].shown
    assert [*shown] == [str(at) for at in range(2, MOST_VALUES + 2)]
    assert (shown["2"].n_items, shown["2"].n_shown) == (3, 3)


def test_what_is_not_known_is_null():
    part = part_of([16, 4], [3, 1])
    assert part.expected_exposure_loss is None
    assert part.representation["kind"].to_catalogue is None
    assert (part.n_shown, part.n_items, part.gini) == (4, 20, 0.5)
