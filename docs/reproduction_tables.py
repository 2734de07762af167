"""Tables 2 to 7 of reproduction.md, from the CSV files of docs/reproduction/."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl
from reproduction_files import (
    FAIRREC,
    METRICS,
    MOVIES,
    RETAIL,
    SHAPE,
    SHOP,
    SONGS,
    TEN_ROUNDS,
    THEMIS,
    TITLES,
    mean,
    places,
    read,
    share,
    table,
)

# Table 2 -----------------------------------------------------------------------------------------


def cost_rows(folder: str, dataset: str) -> pl.DataFrame:
    """Means over models for each method; TestSGD as larger and smaller theta."""
    costs = read(f"{folder}/table2/costs-{dataset}")
    columns = (
        "accuracy",
        "accuracy_sd",
        "share",
        "combinations",
        "users_together",
        "seconds",
        "published_accuracy",
    )
    return costs.group_by("method", maintain_order=True).agg(
        pl.col(*columns).cast(pl.Float64).mean()
    )


def cost_row(folder: str, dataset: str, method: str) -> dict[str, float]:
    """The means over models for one method."""
    return cost_rows(folder, dataset).filter(method=method).row(0, named=True)


METHOD_ROWS = {
    THEMIS: 0,
    "TestSGD, larger theta": 1,
    "TestSGD, smaller theta": 2,
    "FairRec (`dpso`)": 3,
    "FairAS (`fairas`)": 4,
    "FairAS, 10 rounds": None,
    "ours, `adaptive`": 6,
    "ours, `adaptive`, at most 10% of users": 7,
}
"""At which place of the files each method stands; 5 is the exact pass over everyone. FairAS with 10
rounds is in some of them only, and not counted."""
PAPER = {MOVIES: "paper", SHOP: "paper", SONGS: "decades"}
"""Where the files by the protocol of the paper are."""
CLAIMS = {
    "significant gaps (p <= 0.05)": "significant gaps (p <= 0.05)",
    "FairRec nearer to the exact gap than TestSGD": "FairRec nearer than TestSGD",
    "users scored by FairRec for one metric, of Themis'": "FairRec's users, one metric, of Themis'",
    "users scored by FairRec for all metrics, of Themis'": "FairRec's users, all metrics",
    "combinations queried by FairRec for one metric, of Themis'": "FairRec's combinations",
    "time of FairRec, of Themis'": "FairRec's seconds",
}


def method_row(folder: str, dataset: str, at: int | None) -> dict[str, float] | None:
    """The means over models for the method at a place; at None, FairAS with 10 rounds, if any."""
    rows = cost_rows(folder, dataset)
    is_ten = pl.col("method") == TEN_ROUNDS
    found = rows.filter(is_ten) if at is None else rows.filter(~is_ten).slice(at, 1)
    return found.row(0, named=True) if found.height else None


def _accuracy_table(table_places: Iterable[tuple[str, str, str]]) -> str:
    columns = list(table_places)
    rows = []
    for title, at in METHOD_ROWS.items():
        line = [title]
        for folder, dataset, _ in columns:
            row = method_row(folder, dataset, at)
            if row is None:
                line.append("")
                continue
            varies = row["accuracy_sd"] > 5e-4
            found = share(row["accuracy"], 1) + (
                f" ±{100 * row['accuracy_sd']:.1f}" if varies else ""
            )
            printed = row["published_accuracy"]
            found += "" if printed is None or title == THEMIS else f" ({share(printed, 1)})"
            line.append(f"{found}, {share(row['share'])}")
        rows.append(line)
    for claim, title in CLAIMS.items():
        line = [title]
        for folder, dataset, _ in columns:
            row = (
                read(f"{folder}/table2/claims")
                .filter(dataset=dataset, claim=claim)
                .row(0, named=True)
            )
            printed = "" if row["published"].strip("'") == "-" else f" ({row['published']})"
            line.append(f"{row['here']}{printed}")
        rows.append(line)
    return table(["", *(title for *_, title in columns)], rows)


def table2_accuracy() -> str:
    """What each method finds and pays, by our protocol."""
    real = [("ours", dataset, title) for dataset, title in TITLES.items()]
    return _accuracy_table([*real, ("shape", SONGS, SHAPE)])


def table2_paper() -> str:
    """The same by the protocol of the paper; TestSGD by decades of the age on LFM360K."""
    return _accuracy_table([(PAPER[dataset], dataset, TITLES[dataset]) for dataset in PAPER])


def table2_gaps() -> str:
    """Exact gaps of the other data sets, mean over models."""
    rows = []
    for dataset in (SHOP, SONGS, RETAIL):
        folders = ("ours", PAPER[dataset]) if dataset in PAPER else ("ours",)
        files = [
            read(f"{folder}/table2/gaps-{dataset}").filter(method=THEMIS) for folder in folders
        ]
        for metric in METRICS:
            found = [file.filter(metric=metric) for file in files]
            line, digits = [], places(metric)
            for own in (*found, pl.DataFrame())[:2]:
                has_chance = own.height and metric != "pooled_auc"
                line.append(f"{mean(own, 'gap'):.{digits}f}" if own.height else "")
                line.append(f"{mean(own, 'chance_mean'):.{digits}f}" if has_chance else "")
            if any(line):
                printed = mean(next(own for own in found if own.height), "published")
                rows.append([TITLES[dataset], metric, f"{printed:.{digits}f}", *line])
    return table(["", "metric", "published", "ours", "chance", "paper", "chance"], rows, 2)


# Tables 3 and 7 ----------------------------------------------------------------------------------

LIMITED = (
    ("ours/table3", "ours", MOVIES, TITLES[MOVIES]),
    ("ours/table3-appendix", "ours", SHOP, TITLES[SHOP]),
    ("ours/table3", "ours", SONGS, TITLES[SONGS]),
    ("ours/table3-appendix", "ours", RETAIL, TITLES[RETAIL]),
    ("shape/table3", "shape", SONGS, SHAPE),
)
LIMITED_ROWS = (
    "Themis, in random order",
    "TestSGD, larger theta",
    "TestSGD, smaller theta",
    "FairRec (`dpso`)",
    "FairAS (`fairas`)",
    "ours, `adaptive`",
)


def limit(folder: str, of: str, dataset: str) -> tuple[int, int]:
    """Combinations that may be queried, and all of them."""
    allowed = read(f"{folder}/combinations-{dataset}").row(0, named=True)["combinations"]
    return int(allowed), int(cost_row(of, dataset, THEMIS)["combinations"])


def table3_users() -> str:
    """Accuracy within a limit in users, and how often FairRec leads."""
    heads = []
    for folder, of, dataset, title in LIMITED:
        allowed, total = limit(folder, of, dataset)
        # who scored everyone before the limit has scored less than it
        scored = read(f"{folder}/leads-{dataset}").row(0, named=True)["share"]
        heads.append(f"{title}, {share(max(allowed / total, scored))}")
    rows = []
    for at, title in enumerate(LIMITED_ROWS):
        line = [title]
        for folder, _, dataset, _ in LIMITED:
            row = read(f"{folder}/leads-{dataset}").row(at, named=True)
            printed = row["published_accuracy"]
            line.append(
                share(row["accuracy"]) + ("" if printed is None else f" ({share(printed)})")
            )
        rows.append(line)
    line = ["FairRec has the largest gap of the paper's methods"]
    for folder, _, dataset, title in LIMITED:
        row = read(f"{folder}/leads-{dataset}").filter(method=FAIRREC).row(0, named=True)
        line.append(
            share(row["leads"]) + ("" if title == SHAPE else f" ({share(row['published_leads'])})")
        )
    return table(["", *heads], [*rows, line])


def table3_combinations() -> str:
    """Accuracy within a limit in combinations, empty ones too."""
    heads, rows = [], [[title] for title in LIMITED_ROWS[:5]]
    for folder, of, dataset, title in LIMITED:
        allowed, total = limit(folder, of, dataset)
        heads.append(f"{title}, {allowed:,} of {total:,}")
        for row, line in zip(
            read(f"{folder}/combinations-{dataset}").iter_rows(named=True), rows, strict=True
        ):
            error = 100 * row["accuracy_sd"]
            found = share(row["accuracy"], 1) + (f" ±{error:.1f}" if error > 0.05 else "")
            line.append(f"{found}; {row['users']:,.0f} users")
    return table(["", *heads], rows)


# Tables 4 to 6 -----------------------------------------------------------------------------------


def _mitigation(dataset: str) -> str:
    each = read(f"again/table-mitigation/gaps-{dataset}")
    pairs = ("published_", ""), ("", "gap_"), ("published_", "gap_")
    rows = []
    for (metric, way, reranker), own in each.group_by(
        "metric", "way", "reranker", maintain_order=True
    ):
        d = places(str(metric))
        levels = [f"{mean(own, name):.{d}f}" for name in ("chosen_by", "before", "after")]
        changes = []
        for whose, of in pairs:
            columns = [f"{whose}{of}{when}" for when in ("before", "after")]
            known = all(own[name].null_count() == 0 for name in columns)
            ends = [f"{mean(own, name):.{d}f}" for name in columns if known]
            changes.append(" to ".join(ends))
        is_better = f"{(own['p_change'] <= 0.05).sum()} of {own.height}"
        chosen_on = str(way).removeprefix("chosen on ")
        rows.append([str(metric), chosen_on, f"`{reranker}`", *levels, is_better, *changes])
    header = [
        "metric",
        "chosen on",
        "re-ranker",
        "groups where chosen",
        "before",
        "after",
        "significant",
        "published",
        "gap",
        "published",
    ]
    return table(header, rows, 3)


def table4_movielens() -> str:
    """Mitigation on MovieLens-1M."""
    return _mitigation(MOVIES)


def table4_retail() -> str:
    """Mitigation on Online Retail."""
    return _mitigation(RETAIL)


def table5() -> str:
    """Gaps by more and more attributes."""
    rows = []
    for dataset in (MOVIES, SHOP):
        each = read(f"ours/table-attributes/attributes-{dataset}").filter(model="wide_deep")
        for (attributes,), own in each.group_by("attributes", maintain_order=True):
            names = str(attributes)
            shown = (
                f"{TITLES[dataset]}: {names}"
                if names.count(",") == 0
                else f"+ {names.rsplit(', ', maxsplit=1)[-1]}"
            )
            line = [shown, str(own["n_groups"][0])]
            for metric in ("auc", "mrr@5", "urd@5", "urp@5"):
                row = own.filter(metric=metric).row(0, named=True)
                times = f"{row['times_chance']:.1f}"
                times = f"**{times}**" if row["p_value"] <= 0.05 else times
                line.append(f"{row['gap']:.3f} ({row['published']:.3f}), {times}")
            rows.append(line)
    return table(["", "groups", "auc", "mrr@5", "urd@5", "urp@5"], rows)


SEARCHES = {
    "everyone scored": "everyone scored",
    "ours: adaptive": "ours, `adaptive`",
    "Themis, in random order": "random order",
    "FairAS (fairas)": "FairAS (`fairas`)",
    "FairRec (dpso)": "FairRec (`dpso`)",
}


def next_worst() -> str:
    """The worst groups that searches found with 20% of the users, before and after re-ranking."""
    each = read(f"again/next-worst/next-worst-{MOVIES}")
    metrics = list(dict.fromkeys(each["metric"]))
    rows = []
    for worst in sorted(set(each["worst"])):
        for method, title in SEARCHES.items():
            line = [str(worst), title]
            for metric in metrics:
                found = each.filter(worst=worst, method=method, metric=metric)
                row, d = found.row(0, named=True), places(metric)
                sd = row["better_by_sd"]
                change = f"{row['better_by']:.{d}f}" + ("" if sd is None else f" ±{sd:.{d}f}")
                ends = f"{row['before']:.{d}f} to {row['after']:.{d}f}"
                users = f"{row['n_chosen']:,.0f}"
                line.append(f"{share(row['among_worst'])}; {users}; {ends}; {change}")
            rows.append(line)
    return table(["worst", "found by", *metrics], rows, 2)


TABLES = {
    function.__name__.replace("_", "-"): function
    for function in (
        table2_accuracy,
        table2_paper,
        table2_gaps,
        table3_users,
        table3_combinations,
        table4_movielens,
        table4_retail,
        next_worst,
        table5,
    )
}
