"""Trials are kept and taken again; what searches, chance and particles find."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fairrec.search.loop import search
from fairrec.search.searcher import hyper_parameters
from fairrec_paper.bench import OwnWork
from fairrec_paper.reproduction.experiment import Trial, TrialStore
from fairrec_paper.reproduction.methods import (
    EXACT,
    THEMIS,
    WAYS,
    chance_trial,
    first_positions,
    particle_trial,
    rank_test,
    read_space,
    search_trial,
)
from tests.fairrec_paper.reproduction.trial_rows import silent
from tests.search.search_worlds import evidence_of, product_space, space_of


class Work:
    """A trial that counts how often it is worked out."""

    def __init__(self) -> None:
        self.times = 0

    def trial(self, seed: int = 0, kind: str = "search", **labels: object) -> Trial:
        def work(progress):
            self.times += 1
            return [{"metric": "auc", "gap": 0.25 + seed}]

        about = {"seed": seed, "by": ("gender", "age")}
        return Trial(kind, "a trial", about, work, labels)


def test_a_finished_trial_is_not_worked_out_again(tmp_path: Path):
    work, store = Work(), TrialStore(tmp_path / "trials")
    first = store.rows(work.trial(), silent)
    again = TrialStore(tmp_path / "trials").rows(work.trial(), silent)
    assert first == again == [{"metric": "auc", "gap": 0.25}]
    assert (work.times, store.n_worked) == (1, 1)
    assert [file.suffix for file in (tmp_path / "trials").iterdir()] == [".json"]


def test_the_gap_is_between_the_best_and_the_worst_group(subject):
    trial = chance_trial(subject, 19, min_support=0.05)
    rows = {row["metric"]: row for row in trial.work(silent)}
    assert [*rows][:2] == ["auc", "pooled_auc"]
    space = subject.space(0.05)
    of_user = space.cells.of_user
    values = subject.values[subject.metric_names.index("auc")]
    means = [
        values[of_user == cell].mean()
        for cell in range(len(space.cells.n_users))
        if (of_user == cell).sum() >= 12
    ]
    assert rows["auc"]["gap"] == pytest.approx(max(means) - min(means))
    assert rows["auc"]["mean"] == pytest.approx(values.mean())
    assert (rows["auc"]["n_groups"], rows["auc"]["min_users"]) == (len(means), 12)


def test_chance_is_what_permutations_show_and_the_pooled_auc_is_not_tested(subject):
    rows = {row["metric"]: row for row in chance_trial(subject, 19).work(silent)}
    auc = rows["auc"]
    assert len(auc["by_chance"]) == 19
    assert auc["by_chance"] == sorted(auc["by_chance"])
    assert auc["chance_mean"] == pytest.approx(np.mean(auc["by_chance"]))
    as_large = sum(gap >= auc["gap"] for gap in auc["by_chance"])
    assert auc["p_value"] == pytest.approx((1 + as_large) / 20)
    assert rows["pooled_auc"]["p_value"] is None
    assert rows["pooled_auc"]["gap"] > 0


def found(subject, method, seed=0):
    return {row["metric"]: row for row in search_trial(subject, method, seed).work(silent)}


def test_both_ways_to_the_exact_gap_find_it_in_every_metric(subject):
    exact = {row["metric"]: row["gap"] for row in chance_trial(subject, 1).work(silent)}
    for method in (THEMIS, EXACT):
        rows = found(subject, method)
        assert {*rows} == {*subject.metric_names}
        for metric, row in rows.items():
            assert row["gap"] == pytest.approx(exact[metric], rel=0, abs=1e-12)
    assert rows["auc"]["users"] == rows["auc"]["users_together"] == 240


@pytest.mark.parametrize("way", WAYS)
def test_shares_are_those_of_a_plain_count(way, source):
    space, values = read_space(source)
    assert [len(names) for names in values] == [2, 3, 3]
    positions = first_positions(space, way, seed=3)
    (row,) = particle_trial(source, way, 3).work(silent)
    users = [tuple(codes) for codes in space.cells.codes[:, space.cells.of_user].T.tolist()]
    counts = [users.count(tuple(position)) for position in positions.tolist()]
    assert row["n_particles"] == len(positions)
    assert row["on_users"] == pytest.approx(np.mean([n > 0 for n in counts]))
    assert row["on_groups"] == pytest.approx(np.mean([n >= space.min_users for n in counts]))
    assert row["n_combinations"] == 18


def test_a12_counts_pairs_and_half_of_the_ties():
    ours, others = np.array([1.0, 2.0, 3.0]), np.array([0.0, 2.0])
    # of six pairs four are larger and one is equal
    pairs = [(a > b) + 0.5 * (a == b) for a in ours for b in others]
    assert rank_test(ours, others).a12 == pytest.approx(sum(pairs) / 6)
    assert rank_test(others, ours).a12 == pytest.approx(1 - sum(pairs) / 6)


def searched(space, name):
    queries = OwnWork()
    outcome = search(
        name,
        evidence_of(space, np.arange(space.n_users, dtype=float)),
        hyper_parameters(name, {}),
        seed=0,
        watch=queries.watch,
    )
    return queries, outcome


def diagonal(n=10):
    """Of all combinations of two attributes only those on the diagonal have users."""
    return space_of([range(n), range(n)], (n, n))


@pytest.mark.parametrize("name", ["themis", "testsgd", "random"])
def test_who_enumerates_looks_at_every_combination(name):
    queries, outcome = searched(diagonal(), name)
    assert queries.n_queried == 100
    assert outcome.evidence.users_scored == 10


def test_who_knows_sizes_looks_at_groups_alone_and_one_pass_at_none():
    assert searched(diagonal(), "adaptive")[0].n_queried == 10
    assert searched(diagonal(), "exact")[0].n_queried == 0


@pytest.mark.parametrize("name", ["dpso", "pso", "fairas"])
def test_searches_count_each_combination_once_with_empty_ones(name):
    queries, outcome = searched(diagonal(), name)
    assert outcome.evidence.users_scored < queries.n_queried <= 100
    full, _ = searched(product_space((4, 5)), name)
    assert full.n_queried <= 20
