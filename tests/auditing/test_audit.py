"""The conductor of an audit: how far it is from the call to the arithmetic."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec import Engine
from fairrec.auditing import audit as audit_module
from fairrec.auditing import count
from fairrec.auditing.build_result import build_strata
from fairrec.auditing.call_repr import audit_call, describe_scoring, describe_tables
from fairrec.auditing.doctor import MOST_USERS
from fairrec.auditing.search import add_model_scores, as_model
from fairrec.core.audit_options import About, AuditOptions
from fairrec.core.errors import InputError
from fairrec.groups.grouping import EVERYONE
from fairrec.inputs.partition import open_parts
from fairrec.inputs.table_options import TableOptions
from fairrec.metrics import METRICS, metric
from fairrec.metrics.reading import read_inputs
from fairrec.scoring.http_client import JsonClient
from fairrec.scoring.model import FunctionModel
from fairrec.search.options import Search
from fairrec.search.searcher import SEARCHERS, Task, searcher
from fairrec.search.searchers.listed import ListedGroups
from fairrec.statistics.draws import PermutedSums
from tests.builders import make_tables
from tests.counts.small_counts import BY, counts_of, tables
from tests.end_to_end.command_line import run_here
from tests.grouped_options import group_options
from tests.scoring.http.served_world import CANDIDATES, USERS, FaultyServer

PACKAGE = str(Path(fairrec.__file__).parent)
MOST_CALLS = 5


def calls_of(frame: FrameType | None) -> list[str]:
    """The functions of FairRec on a stack, the outermost first.

    But for the map over threads, and what stands around the audit to see which options are given.
    """
    found = []
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(PACKAGE) and not file.endswith(("core/threads.py", "call_repr.py")):
            found.append(frame.f_code.co_qualname)
        frame = frame.f_back
    return found[::-1]


def audit_tables(**options):
    tables = make_tables(40)
    # everyone has something relevant: the share of users without is permuted too
    everyone = tables.predictions.with_columns(
        label=pl.when(pl.col("score") == pl.col("score").max().over("user_id"))
        .then(1)
        .otherwise("label")
    )
    settings = {"metrics": "ndcg", "permutations": 3, "threads": 1, "min_support": 1, **options}
    return fairrec.audit(everyone, **group_options(users=tables.users, by="gender", **settings))


def test_from_the_audit_to_a_metric_it_is_not_far():
    chains = []

    @metric("noted")
    def noted(lists):
        """Notes how it was called."""
        chains.append(calls_of(sys._getframe(1)))
        return lists.labels(1)[:, 0]

    try:
        audit_tables(metrics="noted")
    finally:
        METRICS.remove("noted")
    assert [chain[0] for chain in chains] == ["audit"]
    # the call of the metric itself is one too
    assert all(len(chain) <= MOST_CALLS for chain in chains), chains


def test_from_the_audit_to_a_permutation_it_is_not_far(monkeypatch: pytest.MonkeyPatch):
    chains, cell_sums = [], PermutedSums.cell_sums

    def noted(self, seed, number):
        chains.append(calls_of(sys._getframe(1)))
        return cell_sums(self, seed, number)

    monkeypatch.setattr(PermutedSums, "cell_sums", noted)
    audit_tables(permutations=3)
    assert len(chains) == 3
    for chain in chains:
        assert chain[0] == "audit"
        assert len(chain) <= MOST_CALLS, chain


def test_without_labels_the_metrics_are_those_the_other_tables_allow():
    tables = make_tables(60)
    lists = tables.predictions.drop("label")
    found = fairrec.audit(
        lists, users=tables.users, by="gender", items=tables.items, history=tables.history
    )
    assert [*found.metrics] == ["urd@5", "urp@5"]
    found = fairrec.audit(lists, users=tables.users, by="gender", history=tables.history)
    assert [*found.metrics] == ["urp@5"]


def test_without_labels_and_other_tables_nothing_can_be_measured():
    tables = make_tables(20)
    with pytest.raises(
        InputError,
        match=r"without a label column.*columns={'label': \.\.\.}\. Or name .* with items=\.\.\.",
    ):
        fairrec.audit(tables.predictions.drop("label"), users=tables.users, by="gender")


def test_no_group_is_large_enough():
    users = pl.DataFrame({"user_id": range(4), "gender": ["a", "b", "c", "d"]})
    lists = pl.DataFrame(
        {"user_id": range(4), "item_id": [1] * 4, "score": [1.0] * 4, "label": [1] * 4}
    )
    with pytest.raises(InputError, match="No group has 2 users"):
        fairrec.audit(lists, users=users, by="gender", metrics="ndcg", min_support=2)
    with pytest.raises(InputError) as raised:
        fairrec.audit(lists, users=users, by="gender", metrics="ndcg")
    assert str(raised.value) == (
        "No group has 10 users (smallest group: 0.1% of users, at least 10; 4 users in all). Lower "
        "min_support (min_support=1: groups of any size), or name fewer attributes in by."
    )


def test_very_many_values_are_no_matter_of_the_smallest_group():
    tables = make_tables(100)
    numbers = tables.users.with_columns(x=pl.int_range(pl.len()) * 3)
    with pytest.raises(InputError) as raised:
        fairrec.audit(tables.predictions, users=numbers, by="x")
    assert str(raised.value) == (
        "No group has 10 users (smallest group: 0.1% of users, at least 10; 100 users in all). The "
        "attribute 'x' has 100 different numbers; to group near ones, bin it: x:q5."
    )
    texts = numbers.with_columns(pl.col("x").cast(pl.String) + " street")
    with pytest.raises(InputError, match=r"looks like an id or free text; leave it out") as raised:
        fairrec.audit(tables.predictions, users=texts, by="x")
    assert "min_support" not in str(raised.value)


def test_the_smallest_group_is_told_as_it_was_asked_for():
    usual, papers = (audit_tables(min_support=support) for support in (None, 0.001))
    assert usual.summary.coverage.min_users == 10
    assert usual.summary.coverage.min_support is None
    assert "min_support=None" in usual.summary.command
    assert papers.summary.coverage.min_users == 1
    assert papers.summary.coverage.min_support == 0.001
    assert "min_support=0.001" in papers.summary.command


def test_users_in_the_same_circumstances_are_one_stratum():
    given = {**tables(), "by": "gender"}
    inputs, _ = read_inputs(**{**given, "adjust_for": "country,age:20"})
    strata = build_strata(inputs)
    country, age = (one.codes for one in inputs.circumstances)
    assert strata.n_strata == len({*zip(country.tolist(), age.tolist(), strict=True)})
    for stratum in range(strata.n_strata):
        users = np.flatnonzero(strata.of_user == stratum)
        assert len({*country[users].tolist()}) == len({*age[users].tolist()}) == 1
    assert build_strata(read_inputs(**given)[0]) is None


def test_lists_are_looked_at_where_there_are_some():
    given = tables()
    # lists of men are half as long, and so their users are found by fewer candidates
    men = given["users"].filter(gender="M")["user_id"]
    rows = given["predictions"]
    shorter = rows.filter(~(rows["user_id"].is_in(men.to_list()) & (rows["item_id"] >= 4)))
    given = {**given, "predictions": shorter, "metrics": "mrr@8", "by": "gender"}
    users = fairrec.audit(**group_options(**given, permutations=200))
    counted = fairrec.audit(
        counts=counts_of(given), statistics=fairrec.Statistics(permutations=200)
    )
    assert users.summary.circumstances
    assert counted.summary.circumstances == ()
    assert users.per_user is not None
    assert counted.per_user is None


def test_everything_that_changes_a_number_is_told():
    options = AuditOptions(depth=2, tolerance="5%", engine=Engine(threads=1))
    said = audit_call(["predictions"], options, About(title="Spring"), ["search='random'"])
    assert said.startswith("fairrec.audit(predictions, depth=2, ")
    assert "tolerance='5%', seed=0, statistics=fairrec.Statistics(permutations=1000, " in said
    assert said.endswith("top=1), search='random', about=fairrec.About(title='Spring'))")
    assert "threads" not in said


def test_tables_go_by_their_names_and_all_that_is_made_of_them_is_told():
    tables = TableOptions(
        **{"test": "t.csv", "users": "u.csv", "by": "age:10", "adjust_for": "n"},
        **{"relevant": "rating>=4", "gain": "rating", "columns": "a=b"},
    )
    assert describe_tables(tables, ["auc"]) == [
        *("predictions", "test=test", "users=users", "by=['age:10']", "adjust_for=['n']"),
        "metrics=['auc']",
        "tables=fairrec.Tables(relevant='rating>=4', gain='rating', columns={'a': 'b'})",
    ]
    values = TableOptions(values="v.csv", by="age", better="churn=lower", missing_lists="drop")
    assert describe_tables(values, ["churn"]) == [
        *("values=values", "by=['age']", "metrics=['churn']"),
        "tables=fairrec.Tables(missing_lists='drop', better={'churn': 'lower'})",
    ]


def test_who_gives_the_scores_is_told():
    assert describe_scoring(None, None) == []
    (search, scorer) = describe_scoring(Search("adaptive", ledger="a.parquet"), len)
    assert search.startswith("search=fairrec.Search(name='adaptive'")
    assert scorer == "scorer=scorer"


@pytest.fixture
def tasks() -> Iterator[list[Task]]:
    """What the searchers 'plain' and 'guided' were built for; they score everyone."""
    built: list[Task] = []

    def probe(task: Task, hyper: object) -> ListedGroups:
        built.append(task)
        return ListedGroups(np.array([EVERYONE]))

    searcher("plain", "notes its task", searches_all=True)(probe)
    searcher("guided", "notes its task", searches_all=True, uses_proxy=True)(probe)
    yield built
    SEARCHERS.remove("plain")
    SEARCHERS.remove("guided")


def audit_by(search: str, **options: Any) -> fairrec.AuditResult:
    tables = make_tables()
    given = {"users": tables.users, "by": "gender,member", "metrics": "auc"}
    given |= {"permutations": 19, "min_support": 1}
    return fairrec.audit(tables.predictions, **group_options(**{**given, **options}, search=search))


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_a_searcher_knows_the_significance_level_of_the_audit(tasks, alpha):
    audit_by("plain", alpha=alpha)
    assert [task.alpha for task in tasks] == [alpha]


def test_the_history_is_read_only_for_a_searcher_that_uses_the_popularity_proxy(tasks):
    unusable = pl.DataFrame({"user_id": [1]})
    audit_by("plain", history=unusable)
    with pytest.raises(InputError, match="item_id"):
        audit_by("guided", history=unusable)


def test_the_popularity_proxy_is_computed_only_for_a_searcher_that_uses_it(tasks):
    # urp needs the history, whoever searches
    settings = {"history": make_tables().history, "metrics": "auc,urp"}
    audit_by("plain", **settings)
    audit_by("guided", **settings)
    assert [(task.evidence.proxy_variance > 0).tolist() for task in tasks] == [
        [False, False],
        [True, True],
    ]


def score(users, items):
    """Some order, other for each user."""
    return np.sin(7.0 * users + 3.0 * items)


@pytest.fixture
def candidates(tmp_path):
    given = tables()
    given["predictions"].drop("score").write_parquet(tmp_path / "candidates.parquet")
    given["users"].write_parquet(tmp_path / "users.parquet")
    return {
        "predictions": str(tmp_path / "candidates.parquet"),
        "users": str(tmp_path / "users.parquet"),
        "by": BY,
        "metrics": "auc,mrr@8",
    }


def test_all_candidates_have_the_scores_of_the_model(candidates):
    inputs, _ = read_inputs(**candidates, has_scores=False)
    found = add_model_scores(FunctionModel(score, rows_per_call=100), inputs, inputs.tables)
    lengths = np.diff(inputs.candidates.offsets)
    users = np.repeat(inputs.ids_of_lists.to_numpy(), lengths)
    items = inputs.candidates.item_ids.to_numpy()[inputs.candidates.items]
    assert found.candidates.scores == pytest.approx(score(users, items))


def test_a_function_is_a_model():
    assert as_model(None) is None
    model = FunctionModel(score)
    assert as_model(model) is model
    assert isinstance(as_model(score), FunctionModel)


def test_parts_are_scored_as_the_whole(candidates, monkeypatch):
    whole = fairrec.audit(**group_options(**candidates, scorer=score, permutations=50))
    monkeypatch.setattr(count, "open_parts", partial(open_parts, n_rows=900))
    monkeypatch.setattr(audit_module, "is_large", lambda *_: True)
    found = fairrec.audit(**group_options(**candidates, scorer=score, permutations=50))
    for name, about in whole.metrics.items():
        assert found.metrics[name].mean == pytest.approx(about.mean, rel=1e-12)
        assert found.metrics[name].gap == pytest.approx(about.gap)
    assert found.per_user_parts.collect().height == whole.per_user.height
    # a search is not of everyone, and stays as it is
    some = fairrec.audit(
        **group_options(
            **candidates, scorer=score, search=fairrec.Search("adaptive", budget_users=300)
        )
    )
    assert some.summary.search.users_scored == 300
    assert isinstance(found.per_user_parts, pl.LazyFrame)


def test_workers_have_nothing_to_do_in_a_search(candidates):
    with pytest.raises(InputError, match="A search scores few users"):
        fairrec.audit(**group_options(**candidates, scorer=score, search="adaptive", engine="ray"))


def test_an_endpoint_is_not_asked_by_workers(candidates):
    endpoint = fairrec.Endpoint("http://127.0.0.1:9/v2/models/ranker")
    with pytest.raises(InputError, match="asked by one process"):
        fairrec.audit(**group_options(**candidates, scorer=endpoint, engine="ray"))


MODULE = """
import json
from pathlib import Path

def score(user_ids, item_ids):
    known = json.loads(Path("scores.json").read_text())
    return [known[f"{user} {item}"] for user, item in zip(user_ids, item_ids)]

def fails(user_ids, item_ids):
    raise LookupError("no such user")

def leaves(user_ids, item_ids):
    raise SystemExit(3)

def leaves_without_a_word(user_ids, item_ids):
    raise SystemExit
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    CANDIDATES.write_parquet("candidates.parquet")
    USERS.write_parquet("users.parquet")
    return tmp_path


DOCTOR = ("doctor", "candidates.parquet")


def test_a_sound_endpoint_is_told_by_what_it_says_and_does(folder, server: FaultyServer):
    url, tag = server.address("plain", "/v2/models/m")
    ran = run_here(*DOCTOR, "--endpoint", url, "--users", "users.parquet")
    assert (ran.code, ran.stderr) == (0, "")
    said = ran.stdout.splitlines()
    assert f"endpoint  {url} (oip): ready, model m, version 7" in said
    assert "inputs    user_id BYTES [-1], item_id BYTES [-1]" in said
    assert "outputs   score FP64 [-1]" in said
    assert f"batch     {MOST_USERS} users, 256 pairs; sent: user_id, item_id" in said
    assert ran.stdout.count("the same scores") == 3
    assert said[-1] == "sound     an audit can ask this model"
    # once, again, backwards, and three users alone
    assert len(server.batches(tag)) == 6
    first, again, backwards, *alone = server.batches(tag)
    assert first == again == backwards[::-1]
    assert [*alone] == [[user] for user in first[:3]]


@pytest.mark.parametrize(
    ("mode", "says"),
    [
        ("random-scores", "the same batch got other scores the second time"),
        ("sorted", "scores depend on the order of the pairs"),
        ("together", "scores depend on who is asked together"),
        ("equal", "all scores are equal"),
    ],
)
def test_what_would_spoil_an_audit_is_a_problem(mode, says, folder, server: FaultyServer):
    url, _ = server.address(mode)
    ran = run_here(*DOCTOR, "--endpoint", url, "--protocol", "json")
    assert ran.code == 1
    problems = [line for line in ran.stdout.splitlines() if line.startswith("problem ")]
    assert len(problems) == 1
    assert says in problems[0]


def test_faults_are_reported(folder, server: FaultyServer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(JsonClient, "_back_off", lambda self, state: 0.01)
    url, _ = server.address("truncated")
    ran = run_here(*DOCTOR, "--endpoint", url, "--protocol", "json", "--timeout", "5")
    assert ran.code == 0
    assert "faults    3 x broken JSON, tried again" in ran.stdout


def test_an_endpoint_that_fails_is_an_error(folder, server: FaultyServer):
    url, _ = server.address("compressed")
    ran = run_here(*DOCTOR, "--endpoint", url, "--protocol", "json")
    assert ran.code == 2
    assert ran.stderr.startswith(f"ScoringError: The endpoint {url} failed on a batch of 32 users")


def test_a_batch_is_no_larger_than_a_call_may_be(folder, server: FaultyServer):
    url, tag = server.address("plain")
    ran = run_here(*DOCTOR, "--endpoint", url, "--protocol", "json", "--rows-per-call", "20")
    assert "batch     2 users, 16 pairs" in ran.stdout
    assert len(server.batches(tag)[0]) == 2


def test_without_a_single_candidate_there_is_nothing_to_ask_for(folder, server: FaultyServer):
    url, tag = server.address("plain")
    empty = CANDIDATES.with_columns(
        item_id=pl.lit([], dtype=pl.List(pl.String)), label=pl.lit([], dtype=pl.List(pl.Int64))
    )
    empty.write_parquet("empty.parquet")
    CANDIDATES.explode("item_id", "label").clear().write_parquet("no_rows.parquet")
    for name in ("empty.parquet", "no_rows.parquet"):
        ran = run_here("doctor", name, "--endpoint", url, "--protocol", "json")
        assert ran.code == 2
        assert ran.stderr.startswith(f"InputError: {name}: ")
        assert len(ran.stderr.splitlines()) == 1
    assert server.batches(tag) == []


def test_features_and_names_are_those_of_an_audit(folder, server: FaultyServer):
    url, _ = server.address("features")
    CANDIDATES.rename({"user_id": "uid"}).write_parquet("renamed.parquet")
    USERS.write_csv("users.csv")
    items = pl.DataFrame({"item_id": [f"i{i}" for i in range(40)], "price": range(40)})
    items.write_parquet("items.parquet")
    ran = run_here(
        *("doctor", "renamed.parquet", "--columns", "predictions.user_id=uid"),
        *("--users", "users.csv", "--items", "items.parquet"),
        *("--features", "users:years,items:price", "--inputs", "age=years"),
        *("--endpoint", url, "--protocol", "json"),
    )
    assert ran.code == 0, ran.stderr
    assert "sent: user_id, age (from years), item_id, price" in ran.stdout


def test_a_function_is_examined(folder: Path):
    (folder / "doctors_ranker.py").write_text(MODULE)
    scores = {
        f"{user} {item}": 0.01 * i
        for user, items in CANDIDATES.select("user_id", "item_id").iter_rows()
        for i, item in enumerate(items)
    }
    import json

    (folder / "scores.json").write_text(json.dumps(scores))
    ran = run_here(*DOCTOR, "--scorer", "doctors_ranker:score", "--debug")
    assert ran.code == 0
    assert "scores    0 to 0.07, 8 different" in ran.stdout
    failed = run_here(*DOCTOR, "--scorer", "doctors_ranker:fails")
    assert failed.code == 2
    assert "LookupError: no such user" in failed.stderr
    assert "'u0', 'u1', 'u2' and 29 more" in failed.stderr


@pytest.mark.parametrize("command", ["doctor", "audit"])
@pytest.mark.parametrize("concurrency", ["1", "2"])
def test_a_function_that_ends_the_program_is_an_error(command, concurrency, folder: Path):
    (folder / "leaving_ranker.py").write_text(MODULE)
    (folder / "leaving_at_once.py").write_text("import sys\nsys.exit(4)")
    by = ("--by", "gender") if command == "audit" else ()
    asked = (command, "candidates.parquet", "--users", "users.parquet", *by)
    options = ("--concurrency", concurrency, "--rows-per-call", "40")
    for scorer, says in (
        ("leaving_ranker:leaves", ": SystemExit: 3"),
        ("leaving_ranker:leaves_without_a_word", ": SystemExit"),
        ("leaving_at_once:score", "leaving_at_once cannot be imported: SystemExit: 4"),
    ):
        ran = run_here(*asked, *options, "--scorer", scorer)
        assert ran.code == 2, ran.stderr
        assert says in ran.stderr


def test_without_a_model_there_is_nothing_to_ask(folder: Path):
    ran = run_here(*DOCTOR)
    assert ran.code == 2
    assert "Name the model: --scorer, --endpoint or --onnx." in ran.stderr
