"""Findings of a search: a planted group is named, and chance is not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.measure import Row, call_in_child
from benchmarks.search import MIN_SUPPORT, RAW, trained

N_USERS = 200_000
N_GROUP = 300
BUDGET = "15%"
N_WORLDS = 10
MIN_FOUND = 9
EFFECTS = (1.0, 0.7, 0.5)
"""By how much the scores of what a user wants are lower in the planted group, against others'
of standard deviation 1."""
FEW = ((3_000, 100, 4), (6_000, 180, 4), (6_000, 960, 4), (3_000, 480, 2), (6_000, 960, 2))
"""Users, those of the planted group, and attributes; BUDGET_OF_FEW of the users are scored."""
BUDGET_OF_FEW, N_WORLDS_OF_FEW = "10%", 40
N_SHUFFLES = {"5%": 100, "10%": 100, "50%": 40}
METRICS = ("auc", "mrr@5", "ndcg@5", "urd@5", "urp@5")
ATTRIBUTES = {"gender": 2, "age": 7, "occupation": 21, "region": 12}


def run(shrink: int) -> Iterator[Row]:
    """Planted worlds with falling effects, then a trained model with shuffled attributes."""
    n_worlds = N_WORLDS if shrink == 1 else 2
    for effect in EFFECTS:
        _, outcome = call_in_child(planted, effect, n_worlds, N_USERS // shrink, N_GROUP // shrink)
        n_found = outcome["n_found"]
        is_first = effect == EFFECTS[0]
        yield Row(
            "search-findings",
            f"{outcome['n_group']} of {N_USERS // shrink:,} users with NDCG@5 lower by "
            f"{outcome['difference']:.2f}: named after scoring {BUDGET}",
            f"{n_found} of {n_worlds}",
            f"{MIN_FOUND} of {N_WORLDS}" if is_first else "",
            n_found >= MIN_FOUND if is_first else None,
        )
    n_few = N_WORLDS_OF_FEW if shrink == 1 else 2
    for n_users, n_group, n_attributes in FEW:
        for reference in (0.2, None):
            how = (BUDGET_OF_FEW, reference, n_attributes)
            _, outcome = call_in_child(planted, 1.0, n_few, n_users, n_group, *how)
            yield Row(
                "search-findings",
                f"{outcome['n_group']} of {n_users:,} users by {n_attributes} attributes with "
                f"NDCG@5 lower by {outcome['difference']:.2f}, {BUDGET_OF_FEW} scored, "
                f"{'a fifth' if reference else 'as usual'} at random: somebody found worse; gap",
                f"{outcome['n_worse']} of {n_few}; {outcome['gap']:.3f}",
            )
    if not (RAW / "movielens-1m").exists():
        yield Row("search-findings", "shuffled attributes", f"no data in {RAW}")
        return
    run_folder = trained("movielens-1m", "deepfm")
    _, outcome = call_in_child(as_audited, str(run_folder), n_worlds)
    yield Row(
        "search-findings",
        "MovieLens-1M, DeepFM, five metrics, as audited with 10% of all users: share of the gap",
        f"{outcome['accuracy']:.3f}",
    )
    for budget, n in N_SHUFFLES.items():
        n_shuffles = n // shrink
        _, outcome = call_in_child(shuffled, str(run_folder), budget, n_shuffles)
        yield Row(
            "search-findings",
            f"MovieLens-1M, DeepFM, five metrics, attributes shuffled, {budget} scored: false "
            "findings",
            f"{outcome['n_false']} of {n_shuffles}",
            "5%",
            outcome["n_false"] <= 0.05 * n_shuffles,
        )


def planted(
    effect: float,
    n_worlds: int,
    n_users: int,
    n_group: int,
    budget: str = BUDGET,
    reference: float | None = None,
    n_attributes: int = len(ATTRIBUTES),
) -> dict[str, Any]:
    """How often the planted group, or any that is worse, is among the findings of a search."""
    import numpy as np

    import fairrec

    n_found, n_worse, differences, sizes, gaps = 0, 0, [], [], []
    for seed in range(n_worlds):
        users, predictions, group, is_member = _world(seed, effect, n_users, n_group)
        result = fairrec.audit(
            predictions,
            users=users,
            by=[*ATTRIBUTES][:n_attributes],
            metrics=["ndcg@5"],
            search=fairrec.Search("adaptive", budget_users=budget, reference=reference),
            statistics=fairrec.Statistics(permutations=200),
            seed=seed,
        )
        findings = result.metric("ndcg@5").findings
        n_worse += any(finding.difference < 0 for finding in findings)
        gaps.append(result.metrics["ndcg@5"].gap or 0.0)
        found = [dict(finding.group) for finding in findings]
        n_found += group in found
        per_user = fairrec.audit(
            predictions,
            users=users,
            by=["gender"],
            metrics=["ndcg@5"],
            statistics=fairrec.Statistics(permutations=0),
        ).per_user
        assert per_user is not None
        values = per_user["ndcg@5"].to_numpy()
        differences.append(float(values[~is_member].mean() - values[is_member].mean()))
        sizes.append(int(is_member.sum()))
    return {
        "n_found": n_found,
        "n_worse": n_worse,
        "gap": float(np.mean(gaps)),
        "difference": float(np.mean(differences)),
        "n_group": round(float(np.mean(sizes))),
    }


def _world(seed: int, effect: float, n_users: int, n_group: int) -> tuple[Any, Any, Any, Any]:
    """Users, predictions, and a group of about the size asked for whose targets score lower."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(seed)
    codes = {}
    for name, n_values in ATTRIBUTES.items():
        weights = 1 / (np.arange(n_values) + 1.5) ** (0.8 if n_values > 2 else 0.3)
        codes[name] = rng.choice(n_values, n_users, p=weights / weights.sum())
    users = pl.DataFrame({"user_id": np.arange(n_users), **codes})
    groups = [
        row
        for names in (("age", "occupation"), ("gender", "age", "region"), ("occupation", "region"))
        + ((("gender", "age"),) if n_group > n_users / 10 else ())
        for row in users.group_by(names).len().sort("len", *names).iter_rows(named=True)
    ]
    near = sorted(groups, key=lambda row: abs(row["len"] - n_group))[:10]
    chosen = near[int(rng.integers(len(near)))]
    group = {name: value for name, value in chosen.items() if name != "len"}
    is_member = np.ones(n_users, dtype=bool)
    for name, value in group.items():
        is_member &= codes[name] == value
    n_candidates = 50
    scores = rng.normal(size=(n_users, n_candidates))
    scores[:, 0] += 2 - effect * is_member
    labels = np.zeros((n_users, n_candidates), dtype=np.int8)
    labels[:, 0] = 1
    items = np.tile(np.arange(n_candidates), (n_users, 1))
    predictions = pl.DataFrame(
        {"user_id": users["user_id"], "item_id": items, "score": scores, "label": labels}
    )
    return users, predictions, group, is_member


def as_audited(run: str, n_seeds: int) -> dict[str, float]:
    """The gap an audit finds unless told otherwise, as a share of the exact one."""
    from statistics import fmean

    import fairrec

    def gaps(**options: Any) -> list[float]:
        result = fairrec.audit(
            **_tables(run), statistics=fairrec.Statistics(permutations=0), **options
        )
        return [result.metrics[name].gap or 0.0 for name in METRICS]

    exact = gaps()
    search = fairrec.Search("adaptive", budget_users="10%")
    shares = [
        found / whole
        for seed in range(n_seeds)
        for found, whole in zip(gaps(search=search, seed=seed), exact, strict=True)
    ]
    return {"accuracy": fmean(shares)}


def _tables(run: str) -> dict[str, Any]:
    from fairrec_paper.models.run import load_run

    loaded = load_run(Path(run))
    return {
        "predictions": loaded.predictions(),
        "users": loaded.users,
        "by": loaded.record.attributes,
        "items": Path(run) / "items.parquet",
        "history": Path(run) / "history.parquet",
        "metrics": METRICS,
        "min_support": MIN_SUPPORT,
    }


def shuffled(run: str, budget: str, n_shuffles: int) -> dict[str, int]:
    """How many searches have a finding where values are permuted across users."""
    import polars as pl

    import fairrec

    tables = _tables(run)
    users = tables.pop("users")
    n_false = 0
    for seed in range(n_shuffles):
        ids = users["user_id"].shuffle(seed=seed)
        result = fairrec.audit(
            **tables,
            users=users.with_columns(pl.Series("user_id", ids)),
            search=fairrec.Search("adaptive", budget_users=budget),
            statistics=fairrec.Statistics(permutations=200),
            seed=seed,
        )
        n_false += any(metric.findings for metric in result.metrics.values())
    return {"n_false": n_false}
