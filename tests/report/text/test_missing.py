"""Who is missing, in sentences."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.report.text.missing import GROUPS_SHOWN, missing_lines, remedy, why_inconclusive
from tests.builders import one_each
from tests.grouped_options import group_options

N_USERS = 60
USERS = pl.DataFrame({"user_id": range(N_USERS), "group": [f"g{i % 3}" for i in range(N_USERS)]})
IS_G0 = np.arange(N_USERS) % 3 == 0
SPREAD = np.arange(N_USERS) < 6


def summary_of(**options):
    given = {"users": USERS, "by": "group", "permutations": 99, "min_support": 2, **options}
    return fairrec.audit(**group_options(**given)).summary


def labelled(is_missing):
    return one_each({user: None if missing else 1 for user, missing in enumerate(is_missing)})


def served(is_missing) -> dict[str, pl.DataFrame]:
    ids = np.arange(N_USERS)
    lists = {"user_id": ids[~is_missing], "item_id": [[1, 2]] * int((~is_missing).sum())}
    return {
        "predictions": pl.DataFrame(lists),
        "test": pl.DataFrame({"user_id": ids, "item_id": [1] * N_USERS}),
    }


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            {"predictions": labelled(SPREAD), "metrics": "mrr"},
            "mrr@5 is undefined for 6 of 60 users (10%), who have no relevant item among their "
            "candidates and are left out there. ",
        ),
        (
            {"predictions": labelled(SPREAD), "metrics": "mrr,auc"},
            "mrr@5, auc are undefined for 6 of 60 users (10%), who have no relevant item among "
            "their candidates and are left out there. ",
        ),
        (
            {"predictions": labelled(SPREAD).filter(pl.col("user_id") >= 6), "metrics": "mrr"},
            "6 of 60 users (10%) of the users table have no predictions and are left out. ",
        ),
        (
            served(SPREAD),
            "6 of 60 users (10%) with held-out items got no list, and count as 0 in accuracy and "
            "coverage. ",
        ),
        (
            {**served(SPREAD), "missing_lists": "drop"},
            "6 of 60 users (10%) with held-out items got no list and are left out. ",
        ),
        (
            {"values": USERS.with_columns(x=pl.col("user_id"))[6:], "metrics": "x"},
            "6 of 60 users (10%) have no row in the table of values and are left out. ",
        ),
        (
            {"values": USERS.select("user_id", x=pl.when(pl.col("user_id") >= 6).then("user_id"))},
            "x is undefined for 6 of 60 users (10%), who are left out there. ",
        ),
    ],
    ids=["label", "labels", "predictions", "zero", "drop", "values", "null"],
)
def test_who_is_missing_is_counted_and_groups_that_are_alike_are_said_to_be(options, says):
    (line,) = missing_lines(summary_of(**options))
    assert line == (
        f"{says}Groups do not differ in it by more than chance (from 10% for group=g2 to 10% for "
        "group=g0)."
    )


def test_of_groups_that_are_hidden_nothing_is_said():
    options = {"users": USERS, "by": "group", "permutations": 99, "min_support": 2}
    result = fairrec.audit(**group_options(predictions=labelled(SPREAD), metrics="mrr", **options))
    (line,) = missing_lines(result.shown(2).summary)
    assert line.endswith("and are left out there.")


def test_groups_that_differ_are_named_with_their_shares():
    (line,) = missing_lines(summary_of(predictions=labelled(IS_G0), metrics="mrr"))
    assert "Groups differ in it: 100% of group=g0 against 0% of all others (p adjusted " in line
    assert line.endswith(").")


def test_those_who_lack_more_are_named_first_whichever_group_is_the_finding():
    users = USERS.with_columns(group=pl.Series(np.where(IS_G0, "in", "out")))
    summary = summary_of(predictions=labelled(IS_G0), metrics="mrr", users=users)
    (one,) = summary.missing
    (found,) = one.findings
    other = "out" if found.group == {"group": "in"} else "in"
    other = found.model_copy(
        update={
            "group": {"group": other},
            "value": found.value - found.difference,
            "difference": -found.difference,
        }
    )
    told = set()
    for finding in (found, other):
        missing = one.model_copy(update={"findings": (finding,)})
        (line,) = missing_lines(summary.model_copy(update={"missing": (missing,)}))
        told.add(line.partition("Groups differ in it: ")[2].partition(" (p adj")[0])
    assert told == {
        "100% of group=in against 0% of all others",
        "100% of all but group=out against 0% of group=out",
    }


def test_what_helps_items_without_a_value_is_said_and_helps():
    rng = np.random.default_rng(0)
    pairs = [(user, item) for user in range(40) for item in rng.choice(20, 4, replace=False)]
    scored = pl.DataFrame(pairs, schema=["user_id", "item_id"], orient="row").with_columns(
        score=pl.Series(rng.random(160)), label=pl.Series(rng.integers(0, 2, 160))
    )
    # the last items are candidates of no list
    given = {
        "items": pl.DataFrame({"item_id": range(27), "kind": ["a", "b", "c"] * 9}),
        "by": "kind",
        "side": "items",
        "min_support": 1,
        "permutations": 99,
    }
    summary = fairrec.audit(scored, **group_options(**given)).summary
    name = next(name for name in summary.metrics if name.startswith("exposure@"))
    assert not summary.metrics[name].is_conclusive
    advice = remedy(name, summary)
    assert "Leave them out of the items table" in advice
    assert advice.endswith("max_undefined=0.26")
    helped = fairrec.audit(scored, **group_options(**given, max_undefined=0.26)).summary
    assert helped.metrics[name].is_conclusive
    # to what is received and due they add nothing, and a note says so
    ratio = next(name for name in summary.metrics if name.startswith("exposure_to"))
    assert summary.metrics[ratio].is_conclusive and summary.metrics[ratio].n_undefined == 0
    assert any(
        "7 of 27 items were due nothing and got nothing" in note for note in summary.warnings
    )


def test_of_many_groups_the_first_are_named():
    assert GROUPS_SHOWN == 3
    users = pl.DataFrame({"user_id": range(320), "group": [f"g{i % 8}" for i in range(320)]})
    is_missing = np.arange(320) % 8 < 4
    predictions = one_each({user: None if is_missing[user] else 1 for user in range(320)})
    (line,) = missing_lines(summary_of(predictions=predictions, metrics="mrr", users=users))
    assert line.count("of all others") == 3
    assert line.endswith("; 1 more group in result.json.")


def test_without_permutations_nothing_is_said_of_groups():
    (line,) = missing_lines(summary_of(predictions=labelled(IS_G0), metrics="mrr", permutations=0))
    assert line.endswith("and are left out there.")


def test_nothing_missing_is_no_line():
    nobody = np.zeros(N_USERS, dtype=bool)
    assert missing_lines(summary_of(predictions=labelled(nobody), metrics="mrr")) == ()


@pytest.mark.parametrize(
    ("options", "says", "advice"),
    [
        (
            {"predictions": labelled(SPREAD), "metrics": "mrr"},
            "No group with values differs from the rest by more than chance, but 10% of users have "
            "no value (up to 5% would be let pass).",
            "If these are recommendations, give the held-out interactions (test=...): a list that "
            "misses everything then counts as 0. If they are candidates, give each user's relevant "
            "items among them.",
        ),
        (
            {**served(SPREAD), "missing_lists": "drop"},
            "No group with values differs from the rest by more than chance, but 10% of users have "
            "no value (up to 5% would be let pass).",
            "See who got no list before reading anything into it.",
        ),
        (
            {"values": USERS.select("user_id", x=pl.when(pl.col("user_id") >= 6).then("user_id"))},
            "No group with values differs from the rest by more than chance, but 10% of users have "
            "no value (up to 5% would be let pass).",
            "Find out why they have none, or raise max_undefined if it does not matter.",
        ),
    ],
    ids=["labels", "no list", "values"],
)
def test_why_nothing_found_is_no_all_clear(options, says, advice):
    summary = summary_of(**options)
    (name, *_) = summary.metrics
    assert why_inconclusive(name, summary.metrics[name], summary) == says
    assert remedy(name, summary) == advice


def test_a_group_that_is_missing_is_contrasted_with_all_others():
    summary = summary_of(predictions=labelled(IS_G0), metrics="mrr")
    assert (
        "33% of users have no value (up to 5% would be let pass), and 100% of group=g0 have no "
        "value, against 0% of all others."
    ) in why_inconclusive("mrr@5", summary.metrics["mrr@5"], summary)
    without = labelled(np.zeros(N_USERS, dtype=bool)).filter(pl.col("user_id") % 3 != 0)
    summary = summary_of(predictions=without, metrics="mrr")
    said = why_inconclusive("mrr@5", summary.metrics["mrr@5"], summary)
    assert "but 100% of group=g0 got no list, against 0% of all others." in said
    assert remedy("mrr@5", summary) == (
        "If these users were never to be served, leave them out of the users table; if they were, "
        "give the held-out interactions (test=...)."
    )


def test_outside_text_is_made_plain():
    users = USERS.with_columns(group=pl.col("group") + "\x1b[31m")
    (line,) = missing_lines(summary_of(predictions=labelled(IS_G0), users=users, metrics="mrr"))
    assert "\x1b" not in line
