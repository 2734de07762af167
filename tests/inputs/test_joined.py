"""Held-out tables that were joined with the recommendations, so that only hits are left."""

from __future__ import annotations

from functools import partial

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.auditing import audit as audit_workflow
from fairrec.auditing import count
from fairrec.core.errors import InputError
from fairrec.inputs.notes import JoinedNote
from fairrec.inputs.parts.partition import open_parts
from tests.builders import audit

N_USERS, N_ITEMS = 300, 200
RNG = np.random.default_rng(3)
USERS = pl.DataFrame({"user_id": range(N_USERS), "g": [*"xy"] * (N_USERS // 2)})
ITEMS = pl.DataFrame({"item_id": range(N_ITEMS), "kind": [*"pq"] * (N_ITEMS // 2)})
WANTED = pl.DataFrame(
    [(u, int(i)) for u in range(N_USERS) for i in RNG.choice(N_ITEMS, 3, replace=False)],
    schema=["user_id", "item_id"],
    orient="row",
)


def lists(k: int, n_items: int = N_ITEMS, *, with_wanted: bool = False) -> pl.DataFrame:
    """Lists of k items, in random order; all that is held out among them, if asked for."""
    wanted = dict(WANTED.group_by("user_id").agg("item_id").rows())
    rows = []
    for user in range(N_USERS):
        first = wanted[user] if with_wanted else wanted[user][: user % 3]
        others = (int(i) for i in RNG.permutation(n_items) if i not in wanted[user])
        mine = [*first, *others][:k]
        rows += [(user, item, at) for at, item in enumerate(RNG.permutation(mine), start=1)]
    return pl.DataFrame(rows, schema=["user_id", "item_id", "rank"], orient="row")


def joined(recs: pl.DataFrame) -> pl.DataFrame:
    return WANTED.join(recs, on=["user_id", "item_id"], how="semi")


def checks(recs: pl.DataFrame, test: pl.DataFrame) -> list[str]:
    result = audit(recs, USERS, "g", test=test, metrics=None, permutations=0, tolerance=0.1)
    return [one for one in result.warnings if "missed" in one]


RECS = lists(10)
REFUSED = (
    r"every held-out item is in its user's list\. A table that was joined with the recommendations "
    r"has lost all that they missed, .*: give the whole held-out table\."
)


def test_a_table_of_hits_alone_is_refused():
    with pytest.raises(InputError, match=REFUSED):
        checks(RECS, joined(RECS).filter(pl.col("user_id") % 5 > 0))
    assert checks(RECS, WANTED) == []


def test_hits_alone_but_for_a_few_are_said_first():
    missed = WANTED.join(RECS, on=["user_id", "item_id"], how="anti").head(2)
    test = pl.concat([joined(RECS), missed])
    n, n_users = test.height, N_USERS - test["user_id"].n_unique()
    (said,) = checks(RECS, test)
    assert said.startswith(
        f"check: the test table: only 2 of {n} held-out items are missed, and {n_users} of 300 "
        "users with a list have none. A table that was joined"
    )


def test_of_lists_that_may_be_candidates_it_is_said_first():
    recs = lists(40)
    (said,) = checks(recs, joined(recs))
    assert said.startswith("check: the test table: every held-out item is in its user's list. A ")
    assert checks(recs, WANTED) == []


def test_candidates_of_users_with_nothing_relevant_are_not_joined():
    test = WANTED.with_columns(rating=pl.when(pl.col("user_id") % 4 == 0).then(1).otherwise(5))
    given = {"test": test, "relevant": "rating>=4", "metrics": None, "permutations": 0}
    result = audit(lists(60, with_wanted=True), USERS, "g", **given)
    assert not [one for one in result.warnings if "missed" in one]


def test_where_every_list_has_a_hit_it_is_said_first():
    test = joined(RECS)
    (said,) = checks(RECS.join(test, on="user_id", how="semi"), test)
    assert said.startswith("check: the test table: every held-out item is in its user's list. A ")


def test_items_and_counts_are_refused_alike():
    test = joined(RECS)
    with pytest.raises(InputError, match=REFUSED):
        fairrec.audit(RECS, by="kind", test=test, items=ITEMS, side="items", permutations=0)
    with pytest.raises(InputError, match=REFUSED):
        fairrec.count(RECS, test=test, users=USERS, by="g")
    # without a metric that counts them, it does not matter
    exposure = {"items": ITEMS, "side": "items", "metrics": "exposure@10", "permutations": 0}
    assert audit(RECS, None, "kind", test=test, **exposure).metrics


def test_it_is_refused_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(count, "open_parts", partial(open_parts, n_rows=1500))
    monkeypatch.setattr(audit_workflow, "is_large", lambda *_: True)
    given = {"predictions": RECS, "test": joined(RECS), "users": USERS}
    for name, table in given.items():
        table.write_parquet(tmp_path / f"{name}.parquet")
        given[name] = tmp_path / f"{name}.parquet"
    options = {"by": "g", "permutations": 0, "metrics": "recall@10"}
    with pytest.raises(InputError, match=REFUSED):
        fairrec.audit(**given, **options)
    # one miss in one part is enough
    pl.concat([joined(RECS), WANTED.tail(3)]).write_parquet(given["test"])
    assert fairrec.audit(**given, **options).metrics["recall@10"].mean > 0.9


def test_candidates_drawn_to_contain_what_is_held_out_are_none_of_it():
    assert checks(lists(60, with_wanted=True), WANTED) == []


def test_lists_of_the_whole_catalogue_miss_nothing():
    assert checks(lists(N_ITEMS, with_wanted=True), WANTED) == []


def test_of_a_small_catalogue_it_is_noted_that_lists_cannot_miss():
    test = WANTED.with_columns(pl.col("item_id") % 5).unique()
    recs = pl.DataFrame(
        [(u, i, i + 1) for u in range(N_USERS) for i in range(5)],
        schema=["user_id", "item_id", "rank"],
        orient="row",
    )
    (said,) = checks(recs, test)
    assert said.startswith("no held-out item is missed, as lists hold more than half of the items")


def note(**others: object) -> JoinedNote:
    seen = {"n_held_out": 60, "n_missed": 0, "n_lists": 50, "n_without": 20, "longest": 10}
    return JoinedNote("p", "t", 10.0, **{**seen, "is_covering": False, **others})  # type: ignore[arg-type]


def test_few_hits_are_noted_and_very_few_are_not():
    assert not note().is_refused
    assert str(note()).startswith("check: t: every held-out item is in its user's list")
    assert str(note(n_held_out=10)) == ""
    # the rest of a large table may show otherwise
    assert str(note() + note(n_missed=9)) == ""
    assert (note() + note()).is_refused
