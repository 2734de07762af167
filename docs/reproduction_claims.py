"""Every claim of the paper on one line: what it says, what was found, and whether they agree."""

from __future__ import annotations

import numpy as np
import polars as pl
from reproduction_figures import gains, themis_beside
from reproduction_files import (
    FAIRAS,
    FAIRREC,
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
    spread,
    table,
)
from reproduction_tables import LIMITED, cost_row, cost_rows
from reproduction_trainings import gaps_of_trainings, over_models, published_gaps

REAL = tuple(TITLES)
COMPLETE = (("ours", MOVIES), ("paper", MOVIES), ("ours", SHOP), ("paper", SHOP), ("shape", SONGS))
"""Where gaps are of the size the paper had: not the 722 users of LFM360K, not Online Retail."""
DESIGNS = "dpso without its designs"
EXACT = "ours: exact, one pass"


def claims() -> str:
    """The table; verdicts are written by hand, figures are not."""
    rows = [*_quality(), *_gaps(), *_searches(), *_limits(), *_correlations(), *_swarms(), *_rest()]
    rows += _fairas()
    return table(["the paper", "published", "here", "verdict"], rows, 4)


def _range(values: pl.Series, digits: int = 3) -> str:
    return f"{values.min():.{digits}f} to {values.max():.{digits}f}"


def _quality() -> list[list[str]]:
    rows = read("trainings/trainings/quality").filter(protocol="paper")
    own = f"{_range(rows['auc'])} (sd {_range(rows['auc_sd'], 4)}), loss {_range(rows['loss'])}"
    own += f" without and {_range(rows['loss_with_penalty'])} with the penalty"
    printed = f"AUC {_range(rows['auc_published'])}, loss {_range(rows['loss_published'])}"
    below = _range(rows["auc_published"] - rows["auc"])
    apart = (rows["loss_published"] - rows["loss"]).abs().max()
    above = _range(rows["loss_with_penalty"] - rows["loss_published"])
    return [
        [
            "models on MovieLens-1M (Table 1)",
            printed,
            f"by the paper's protocol AUC {own}",
            f"disagrees: AUC is {below} below, more than trainings differ; so is the distance in"
            f" loss, at most {apart:.3f} without the penalty and {above} with it. No cause was"
            " found",
        ],
        [
            "models on the other data sets",
            "AUC 0.92 to 0.96",
            "samples, and another data set",
            CANNOT,
        ],
    ]


CANNOT = "cannot be tested here"


def _gaps() -> list[list[str]]:
    rows, summary = [], gaps_of_trainings()
    words = {
        "pooled_auc": "disagrees by more than trainings differ, not by more than chance does; the"
        " protocol, as far as it could be followed, is not the cause: by it they are further"
        " apart",
        "mrr@5": "agrees",
        "ndcg@5": "agrees",
        "urd@5": "agrees within chance by the paper's protocol, not by ours: the protocol is the"
        " cause, with the targets it has here (at random for 89% of the users)",
        "urp@5": "disagrees by either: too large by ours, too small by the paper's; by ours"
        " another draw of the candidates moves it as far (sensitivity)",
    }
    for metric, verdict in words.items():
        ours, paper = over_models("ours", metric), over_models("paper", metric)
        at = published_gaps(MOVIES).filter(metric=metric)["published"].mean()
        digits = places(metric)
        here = f"{spread(paper.mean(), paper.std(ddof=1), digits)} by the paper's protocol, "
        here += f"{spread(ours.mean(), ours.std(ddof=1), digits)} by ours"
        rows.append([f"gap in {metric} on MovieLens-1M", f"{at:.{digits}f}", here, verdict])
    found = {}
    for protocol in ("ours", "paper"):
        own = summary.filter(protocol=protocol).drop_nulls("chance_mean")
        found[protocol] = f"{own['significant'].sum()} of {own['trainings'].sum()}"
    here = f"p <= 0.05 for {found['paper']} gaps by the paper's protocol, {found['ours']} by ours"
    verdict = "disagrees by the paper's protocol: in this measure chance gives about as many"
    rows.append(["these gaps are unfairness of the models", "not tested", here, verdict])
    worst = {}
    each = read("trainings/trainings/gaps").filter(pl.col("metric") != "pooled_auc")
    largest = pl.col("gap").max().over("protocol", "training", "metric")
    top = each.filter(pl.col("gap") == largest)
    for protocol in ("ours", "paper"):
        own = top.filter(protocol=protocol)
        worst[protocol] = f"{own.filter(model='fgcnn').height} of {own.height}"
    here = f"on MovieLens-1M {worst['paper']} by the paper's protocol, {worst['ours']} by ours"
    verdict = "disagrees: as often as any of four by chance"
    rows.append(["FGCNN is the most unfair in most cases", _fgcnn_published(), here, verdict])
    least = pl.col("gap").min().over("protocol", "training", "metric")
    lowest = each.filter(pl.col("gap") == least)
    by_model = lowest.group_by("protocol", "training", "model").len()
    n_models = by_model.filter(pl.col("len") == each["metric"].n_unique()).height
    here = f"one is in {n_models} of {len(each.select('protocol', 'training').unique())} trainings"
    rows.append(["no model is the most fair in all metrics", "none is", here, "agrees"])
    return rows


def _fgcnn_published() -> str:
    gaps = pl.concat(
        read(f"ours/table2/gaps-{name}")
        .filter(pl.col("metric") != "pooled_auc", method=THEMIS)
        .select("dataset", "model", "metric", "published")
        for name in REAL
    )
    top = gaps.filter(pl.col("published") == pl.col("published").max().over("dataset", "metric"))
    n_cases = gaps.select("dataset", "metric").n_unique()
    fgcnn = top.filter(model="fgcnn")
    of_movies = fgcnn.filter(dataset=MOVIES).height
    own = f"{of_movies} of {gaps.filter(dataset=MOVIES)['metric'].n_unique()} on MovieLens-1M"
    return f"{own}, {fgcnn.height} of {n_cases} of the cases that are here (one a tie)"


def _accuracies() -> str:
    found = []
    names = {"ours": "ours", "paper": "the paper's", "shape": "shape"}
    for folder, dataset in COMPLETE:
        row = cost_row(folder, dataset, FAIRREC)
        title = SHAPE if folder == "shape" else f"{TITLES[dataset]}, {names[folder]}"
        found.append(f"{share(row['accuracy'], 1)} ±{100 * row['accuracy_sd']:.1f} ({title})")
    return "; ".join(found)


def _testsgd(column: str) -> str:
    each = [[cost_rows("ours", name)[column][at] for name in REAL] for at in (1, 2)]
    return "; ".join(", ".join(share(one) for one in values) for values in each)


def _decades() -> str:
    """TestSGD on LFM360K by the protocol of the paper: by single ages, then by decades."""
    ways = [[cost_rows(folder, SONGS)["accuracy"][at] for at in (1, 2)] for folder in FOLDERS]
    return " instead of ".join(" and ".join(share(one) for one in way) for way in ways)


FOLDERS = ("decades", "paper")
"""Runs by the protocol of the paper in which TestSGD had decades, and single ages."""


def _claim(folder: str, dataset: str, claim: str) -> dict[str, str]:
    return read(f"{folder}/table2/claims").filter(dataset=dataset, claim=claim).row(0, named=True)


def _searches() -> list[list[str]]:
    nearer = [_claim("ours", name, "FairRec nearer to the exact gap than TestSGD") for name in REAL]
    counts, printed = (
        np.array([[int(part) for part in each[side].split(" of ")] for each in nearer]).sum(axis=0)
        for side in ("here", "published")
    )
    seconds, one_pass, users, queried = [], [], [], []
    for folder, name in (*(("ours", name) for name in REAL), ("shape", SONGS)):
        seconds.append(_claim(folder, name, "time of FairRec, of Themis'")["here"])
        users.append(
            _claim(folder, name, "users scored by FairRec for one metric, of Themis'")["here"]
        )
        asked = "combinations queried by FairRec for one metric, of Themis'"
        queried.append(_claim(folder, name, asked)["here"])
        exact = _claim(folder, name, "ours: exact, one pass: accuracy; time and users, of Themis'")
        one_pass.append(exact["here"].split("; ")[1].split(" and ")[0])
    two_cores = _claim("two-cores", MOVIES, "time of FairRec, of Themis'")["here"]
    shape_sd = 100 * cost_row("shape", SONGS, FAIRREC)["accuracy_sd"]
    shop = cost_row("paper", SHOP, FAIRREC)
    below = (shop["published_accuracy"] - shop["accuracy"]) / shop["accuracy_sd"]
    cells = read("shape/table2/gaps-lfm360k").filter(method=FAIRREC)["accuracy"]
    return [
        [
            "FairRec finds ~95% of the exact gap",
            "95.5%, 92.6%, 97.4%",
            _accuracies(),
            "agrees within the spread of a model over seeds, but for BlackFriday by the paper's"
            f" protocol, which is {below:.1f} of it below. The mean of four models and five seeds"
            " has a standard error of a point or less: BlackFriday, of a sixth of the purchases,"
            " is below by either protocol",
        ],
        [
            "stable on LFM360K",
            "88.7% to 100%",
            f"{_range(100 * cells, 1)}% over metrics on the shape, sd over seeds {shape_sd:.1f}",
            "agrees",
        ],
        [
            "the nearest to Themis in ~90% of cases",
            f"88.8%; {printed[0]} of {printed[1]} of the cases that are here",
            f"{counts[0]} of {counts[1]}, against TestSGD",
            "agrees; FairAS and `adaptive` are nearer",
        ],
        [
            "TestSGD finds less, with either theta",
            _testsgd("published_accuracy"),
            _testsgd("accuracy"),
            "agrees on MovieLens-1M and BlackFriday. On 722 users of LFM360K decades of the age, as"
            f" in its code, find {_decades()} by single ages (published 56% and 73%), all by the"
            " paper's protocol: single ages are a cause of the distance, and not all of it. Amazon"
            " cannot be tested here",
        ],
        [
            "in half to 1/8 of Themis' time",
            "72%, 48%, 14%, 56%",
            f"seconds: {', '.join(seconds)} (the last: shape); MovieLens-1M on two cores without a"
            f" GPU {two_cores}",
            "disagrees on the shape and on two cores, where it takes longer than Themis; agrees in"
            " the other runs. One pass over everyone takes"
            f" {', '.join(one_pass)} of Themis' seconds",
        ],
        [
            "the same in combinations queried",
            "not printed",
            f"{', '.join(queried)} of Themis'",
            "agrees: near the published seconds but on BlackFriday; its implementation pays for"
            " each combination",
        ],
        [
            "the same in users scored",
            "not measured",
            f"{', '.join(users)} of Themis'",
            "disagrees on MovieLens-1M and the shape: no half of the users is saved there",
        ],
    ]


def _limits() -> list[list[str]]:
    leads, combinations = [], []
    for folder, _, dataset, title in LIMITED:
        row = read(f"{folder}/leads-{dataset}").filter(method=FAIRREC).row(0, named=True)
        leads.append(share(row["leads"]))
        both = read(f"{folder}/combinations-{dataset}")
        cells = [
            both.filter(method=name).row(0, named=True)
            for name in (FAIRREC, "Themis, in random order")
        ]
        shown = " against ".join(
            f"{share(one['accuracy'], 1)} ±{100 * one['accuracy_sd']:.1f}" for one in cells
        )
        if title in (TITLES[MOVIES], TITLES[SHOP], SHAPE):
            combinations.append(f"{shown} ({title})")
        if title == TITLES[SHOP]:
            asked = (
                f"within two standard deviations, but FairRec ended after"
                f" {cells[0]['combinations']:,.0f} of {cells[1]['combinations']:,.0f} combinations"
            )
    return [
        [
            "in limited time FairRec has the largest gap in 79% of cases (its tables: 75%)",
            "70%, 80%, 95%, 55%",
            f"at equal users {', '.join(leads)} (the last: shape)",
            "disagrees in users",
        ],
        [
            "the same, as accuracy at equal combinations",
            "66% against 59%, 86% against 72%, 94% against 68%",
            f"{'; '.join(combinations)}",
            "agrees on the shape; on MovieLens-1M within the spread of random order; on BlackFriday"
            f" {asked}",
        ],
    ]


def _correlations() -> list[list[str]]:
    found = {}
    for pair in (("auc", "mrr@5"), ("mrr@5", "ndcg@5")):
        maps = [
            read(f"ours/figure-correlation/correlation-{name}") for name in (MOVIES, SHOP, RETAIL)
        ]
        rows = [one.filter(row=pair[0], column=pair[1]).row(0, named=True) for one in maps]
        found[pair[0]] = (
            ", ".join(f"{float(row['correlation']):.2f}" for row in rows),
            ", ".join(f"{row['published']:.2f}" for row in rows),
        )
    return [
        [
            "gaps in MRR and NDCG go together over models (Figure 3)",
            found["mrr@5"][1],
            found["mrr@5"][0],
            "agrees in sign; with four models chance alone exceeds 0.95 once in twenty, and none"
            " of ours does",
        ],
        [
            "gaps in MRR and AUC go apart on all data sets",
            found["auc"][1] + "; LFM360K 0.49",
            found["auc"][0],
            f"disagrees, as does its own table; with its pooled AUC {_pooled()}",
        ],
    ]


def _pooled() -> str:
    """The correlation of gaps in MRR and in the AUC that the paper has."""
    found = []
    for name in (MOVIES, SHOP, RETAIL):
        exact = read(f"ours/table2/gaps-{name}").filter(method=EXACT).sort("model")
        sides = [exact.filter(metric=each)["gap"].to_numpy() for each in ("pooled_auc", "mrr@5")]
        found.append(f"{np.corrcoef(*sides)[0, 1]:.2f}")
    return ", ".join(found)


def _swarms() -> list[list[str]]:
    found = gains()
    rows = []
    for name, title in (
        (MOVIES, TITLES[MOVIES]),
        (SHOP, TITLES[SHOP]),
        (SHAPE, SHAPE),
        (RETAIL, TITLES[RETAIL]),
    ):
        row = found[name, DESIGNS]
        gain = f"{100 * row['larger_gap']:.1f}% ±{100 * row['larger_gap_sd']:.1f}"
        here = f"{gain}, A12 {row['a12']:.2f}"
        verdict = {
            MOVIES: "disagrees: it finds less",
            SHOP: "agrees against this opponent, not against plain swarms",
            SHAPE: "agrees in direction, half the size",
            RETAIL: "cannot be tested here: another data set",
        }[name]
        rows.append(
            [
                f"gain over DPSO without its designs, {title} (Figure 4)",
                share(row["published_gap"], 1),
                here,
                verdict,
            ]
        )
    names = (MOVIES, SHOP, SONGS, RETAIL, SHAPE)
    longer = ", ".join(f"{100 * found[name, DESIGNS]['longer_time']:+.0f}%" for name in names)
    more = ", ".join(f"{100 * found[name, DESIGNS]['more_users']:+.0f}%" for name in names)
    rows.append(
        [
            "and takes only 11% more time",
            "+11%; LFM360K +8.8%",
            f"seconds {longer}; users {more} (the last: shape)",
            "disagrees on BlackFriday and the shape",
        ]
    )
    return rows


def _rest() -> list[list[str]]:
    worlds = themis_beside()
    users = pl.concat([both["of_users"] for both in worlds.values()])
    seconds = {model: both["of_seconds"] for model, both in worlds.items()}
    large = pl.concat([both.filter(pl.col("users") == 100_000) for both in worlds.values()])
    starts = pl.concat(
        [read("ours/figure-initialise/particles"), read("shape/figure-initialise/particles")]
    )
    ways = [starts.filter(way=way)["on_groups"].to_list() for way in ("uniform", "by distribution")]
    started = "; ".join(
        f"{share(first, 1)} and {share(second, 1)}" for first, second in zip(*ways, strict=True)
    )
    both_ways = read(f"again/table-mitigation/gaps-{MOVIES}")
    signed = both_ways.filter(way="chosen on other targets", metric="urp@5, signed")
    mitigated = both_ways.filter(pl.col("metric") != "urp@5, signed", way="chosen on other targets")
    same = both_ways.filter(way="chosen on the same targets", metric="mrr@5")
    better = (mitigated["p_change"] <= 0.05).sum()
    gap = mitigated.filter(metric="mrr@5")
    grown = read(f"ours/table-attributes/attributes-{SHOP}").filter(
        model="wide_deep", metric="mrr@5"
    )
    times = grown["times_chance"].to_list()
    hyper = read(f"ours/figure-hyper/hyper-{SHOP}").filter(parameter="epsilon")
    at = dict(hyper.select("value", "accuracy").iter_rows())
    return [
        [
            "FairRec takes 12% to 15% of Themis' time on larger worlds (Figure 5)",
            "15%, 12%",
            f"users {share(users.min())} to {share(users.max())},"
            f" seconds {share(seconds['taste'].min())} to {share(seconds['taste'].max())} ranked by"
            f" popularity and taste and {share(seconds['dcn'].min())} to"
            f" {share(seconds['dcn'].max())} by a trained DCN, of Themis' (medians of 3 tests)",
            "disagrees in both, and in direction: with 100,000 users every test of FairRec takes"
            f" longer than every one of Themis in {large['is_longer'].sum()} of {large.height}"
            " worlds. In combinations queried, empty ones too, it is a tenth (above)",
        ],
        [
            "particles that start by the distribution of users start at groups (Figure 2)",
            "a picture",
            f"{started} (MovieLens, LFM360K, BlackFriday, Online Retail, shape)",
            "agrees",
        ],
        [
            "accuracy rises with particles (Figure 6)",
            "0.002 to 0.005 suffice",
            "BlackFriday: " + ", ".join(f"{one} {share(at[one])}" for one in (0.002, 0.005, 0.02)),
            "agrees; more than suggested still helps",
        ],
        [
            "re-ranking helps the worst groups (Table 4)",
            "MRR 0.179 to 0.336",
            f"{better} of {mitigated.height} cases with p <= 0.05 on held-out targets of"
            " MovieLens-1M",
            "agrees; a part of it is regression to the mean",
        ],
        [
            "and lowers the signed URP of the highest groups (Table 4)",
            "0.0120 to 0.0109",
            f"{mean(signed, 'before'):.4f} to {mean(signed, 'after'):.4f} on held-out targets of"
            " MovieLens-1M",
            "disagrees in level: even these groups are below 0 here, where lower is further away."
            " No cause was found",
        ],
        [
            "and makes the gap smaller (Table 6)",
            "MRR 0.525 to 0.389",
            f"MRR {mean(gap, 'gap_before'):.3f} to {mean(same, 'gap_after'):.3f} on the same"
            f" targets, as in the paper; to {mean(gap, 'gap_after'):.3f} on held-out ones",
            "agrees in direction on the same targets, by two thirds as much; on held-out ones it"
            " moves by less than trainings differ",
        ],
        [
            "more attributes show more unfairness (Table 5)",
            "MRR 0.035 to 0.815",
            f"MRR {_range(grown['gap'])}; as multiples of chance {times[0]:.1f} falling to"
            f" {times[-1]:.1f}",
            "agrees in size, disagrees in what it means: it is chance that grows",
        ],
    ]


def _fairas() -> list[list[str]]:
    larger, users, combinations = [], [], []
    table_places = [("ours", name, FAIRAS) for name in REAL] + [
        ("shape", SONGS, FAIRAS),
        ("shape", SONGS, TEN_ROUNDS),
    ]
    for folder, name, method in table_places:
        one, other = (cost_row(folder, name, each) for each in (method, FAIRREC))
        larger.append(f"{one['accuracy'] / other['accuracy'] - 1:+.1%}")
        users.append(f"{one['share'] / other['share'] - 1:+.0%}")
        combinations.append(f"{one['combinations'] / other['combinations'] - 1:+.0%}")
    each = read(f"again/next-worst/next-worst-{MOVIES}").filter(worst=10)
    found, better = [], []
    for method in (FAIRAS, FAIRREC, "Themis, in random order"):
        own = each.filter(method=method)
        found.append(share(mean(own, "among_worst")))
        row = own.filter(metric="mrr@5").row(0, named=True)
        better.append(f"{row['better_by']:.3f} ±{row['better_by_sd']:.3f}")
    last = "(the last two: shape, and the shape with 10 rounds)"
    return [
        [
            "FairAS: finds a larger gap than FairRec",
            "+19.2%",
            f"{', '.join(larger)} {last}",
            "agrees in direction with 22 rounds, disagrees with 10",
        ],
        [
            "FairAS: in less time",
            "-43%",
            f"users {', '.join(users)}; combinations {', '.join(combinations)} {last}",
            "disagrees with 22 rounds, but for combinations on the shape; with 10 rounds it costs"
            " less and finds less. No setting measured has both",
        ],
        [
            "FairAS: finds the next-worst groups, for use in mitigation",
            "no number known to us",
            f"of the 10 worst, at equal users on MovieLens-1M: FairAS {found[0]}, FairRec"
            f" {found[1]}, random order {found[2]}; MRR of those found, re-ranked, rises by"
            f" {better[0]}, {better[1]} and {better[2]}",
            "agrees against FairRec, not against random order; in mitigation no difference between"
            " the three is beyond the spread over seeds",
        ],
    ]
