"""What a re-ranking does to groups of items."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.core.errors import InputError
from fairrec.inputs.candidates import CandidateLists
from fairrec.inputs.catalogue import read_catalogue
from fairrec.inputs.tables import Table
from fairrec.mitigation.exposure import exposure_changes
from fairrec.mitigation.view import build_mitigation_view
from tests.mitigation.planted import mitigate, planted


def lists_of(rng: np.random.Generator, lengths: list[int]) -> CandidateLists:
    items = [rng.permutation(9)[:n] for n in lengths]
    return CandidateLists(
        np.concatenate([[0], np.cumsum(lengths)]),
        np.concatenate(items).astype(np.int32),
        rng.random(sum(lengths)),
        None,
        # the last one is not in the table of items
        pl.Series([f"i{item}" for item in range(9)]),
    )


def slow_share(lists: CandidateLists, k: int, members: set[str], known: set[str]) -> list[float]:
    """Of the attention to items whose value is known."""
    shares = []
    for user in range(lists.n_users):
        rows = range(lists.offsets[user], lists.offsets[user + 1])
        first = sorted(rows, key=lambda row: -lists.scores[row])[:k]
        ids = [lists.item_ids[int(lists.items[row])] for row in first]
        weights = {item: 1 / np.log2(rank + 2) for rank, item in enumerate(ids) if item in known}
        theirs = [weight for item, weight in weights.items() if item in members]
        shares.append(sum(theirs) / sum(weights.values()) if weights else np.nan)
    return shares


def test_shares_of_attention_are_those_of_a_slow_loop():
    rng = np.random.default_rng(1)
    before = lists_of(rng, [6, 2, 0, 9, 4])
    after = CandidateLists(
        before.offsets, before.items, rng.random(len(before.items)), None, before.item_ids
    )
    kinds = dict(zip([f"i{i}" for i in range(8)], [*"aabbcca", None], strict=True))
    table = pl.DataFrame({"item_id": [*kinds], "kind": [*kinds.values()]})
    found = exposure_changes(
        before, after, read_catalogue(Table(table, "items"), ["kind"]), 3, 0.05
    )
    n_items = {one.group["kind"]: one.n_items for one in found}
    assert n_items == {"a": 3, "b": 2, "c": 2, "(missing)": 1}
    for one in found:
        kind = None if one.group["kind"] == "(missing)" else one.group["kind"]
        members = {item for item, its in kinds.items() if its == kind}
        # those without a kind have a share of the attention to all in the table
        known = {item for item, its in kinds.items() if kind is None or its is not None}
        first, then = (
            np.nanmean(slow_share(lists, 3, members, known)) for lists in (before, after)
        )
        assert one.change.before == pytest.approx(first)
        assert one.change.after == pytest.approx(then)
        assert one.change.n_users == 4
        if kind is not None:
            audited = fairrec.audit(
                pl.DataFrame(
                    {
                        "user_id": np.repeat(range(5), np.diff(before.offsets)),
                        "item_id": before.item_ids.gather(before.items),
                        "score": before.scores,
                    }
                ),
                items=table,
                users=pl.DataFrame({"user_id": range(5), "group": "g"}),
                by="group",
                metrics=f"share@3[kind={kind}]",
                min_support=1,
                permutations=0,
            )
            assert audited.metrics[f"share@3[kind={kind}]"].mean == pytest.approx(first)
        assert one.share_of_items == one.n_items / 8
    sizes = [abs(one.change.change) for one in found]
    assert sizes == sorted(sizes, reverse=True)


def test_diverse_lists_take_attention_from_the_kind_that_filled_them():
    rng = np.random.default_rng(0)
    users = pl.DataFrame({"user_id": range(400), "age": ["young", "old"] * 200})
    items = pl.DataFrame({"item_id": range(40), "categories": [f"c{i % 10}" for i in range(40)]})
    shown = [rng.permutation(40)[:20] for _ in range(400)]
    scores = [rng.random(20) + (u % 2) * (mine % 10 == 0) for u, mine in enumerate(shown)]
    lists = pl.DataFrame(
        {
            "user_id": range(400),
            "item_id": [mine.tolist() for mine in shown],
            "score": [one.tolist() for one in scores],
            "label": [[1] + [0] * 19] * 400,
        }
    )
    result = fairrec.mitigate(
        lists, users=users, items=items, by="age", metric="urd@5", groups="worst:1", max_loss=0.5
    )
    first = result.summary.exposure[0]
    assert first.group == {"categories[c0]": "yes"}
    assert (first.n_items, first.share_of_items) == (4, 0.1)
    assert first.change.verdict == "changed"
    assert first.change.change < 0
    assert first.change.n_users == result.summary.n_users_reported == 200
    view = build_mitigation_view(result.summary)
    assert any("most of all categories[c0]=yes: " in line for line in view.said)
    assert (
        view.tables[-1].title
        == "What is shown: attention of the first 5 places, by groups of items"
    )
    assert len(view.exposure.rows) == 8
    assert view.exposure.note.startswith("and 2 more in mitigation.json.")


def test_where_nothing_is_re_ranked_no_group_of_items_changes():
    result = mitigate(planted("diversity"), metric="urd@5", strength=0.0, permutations=0)
    assert {one.change.verdict for one in result.summary.exposure} == {"unchanged"}
    assert any("none is shown to get more or less" in line for line in said(result))


def said(result) -> tuple[str, ...]:
    return build_mitigation_view(result.summary).said


def test_attributes_of_items_are_named_or_left_out():
    world = planted("diversity")
    items = world.items.with_columns(year=1990 + world.items["item_id"] % 20)
    result = mitigate(
        world._replace(items=items), metric="urd@5", permutations=0, by_items="year:10"
    )
    assert {*(tuple(one.group) for one in result.summary.exposure)} == {("year",)}
    without = mitigate(world, metric="ndcg@5", permutations=0, items=None, reranker="oracle")
    assert without.summary.exposure == ()
    assert "groups of items" not in " ".join(said(without))
    with pytest.raises(InputError, match="by_items are columns of the items"):
        fairrec.mitigate(
            world.predictions,
            users=world.users,
            by="gender",
            metric="ndcg@5",
            reranker="oracle",
            by_items="year",
        )
