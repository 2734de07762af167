"""The protocols of model servers, against a server of its own and by their messages."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.core.errors import InputError, ScoringError
from fairrec.scoring.http.address import parse_address
from fairrec.scoring.http.json_text import to_json
from fairrec.scoring.wire import PROTOCOLS
from fairrec.scoring.wire.protocol import Asked
from fairrec.search.options import SearchOptions
from tests.scoring.http.served_world import (
    CANDIDATES,
    N_USERS,
    USERS,
    FaultyServer,
    answer_of,
    audit,
    in_process,
)

PATHS = {"json": "", "oip": "/v2/models/m", "tfserving": "/v1/models/m"}
QUICK = {"first_wait": 0.01, "longest_wait": 0.05, "rows_per_call": 400}


@pytest.mark.parametrize("protocol", list(PATHS))
def test_every_protocol_gives_the_result_of_the_function(protocol, server: FaultyServer):
    url, tag = server.address("plain", PATHS[protocol])
    result = audit(fairrec.Endpoint(url, protocol=protocol, **QUICK))
    assert answer_of(result) == answer_of(audit(in_process))
    assert sum(map(len, server.batches(tag))) == N_USERS


def test_a_model_that_still_loads_is_waited_for(server: FaultyServer):
    url, _ = server.address("not-ready", PATHS["oip"])
    result = audit(fairrec.Endpoint(url, **QUICK))
    assert result.summary.search.faults == {"HTTP 503": 3}


@pytest.mark.parametrize(
    ("mode", "protocol", "path", "says"),
    [
        ("plain", "oip", "/v2/models/other", "there is no model 'other'"),
        ("loading", "tfserving", "/v1/models/m", "no version of the model 'm' is available"),
        ("not-ready", "oip", "/v2/models/m", "HTTP 503 Service Unavailable: still loading"),
    ],
)
def test_a_model_that_is_not_there_is_said_before_anything_is_asked(
    mode, protocol, path, says, server: FaultyServer
):
    url, tag = server.address(mode, path)
    with pytest.raises(ScoringError, match="is not ready to be asked") as caught:
        audit(fairrec.Endpoint(url, protocol=protocol, **QUICK, retries=0))
    assert says in str(caught.value)
    assert server.batches(tag) == []


def test_features_are_sent_beside_the_ids_by_the_names_asked_for(server: FaultyServer):
    url, _ = server.address("features")
    before = len(server.log.read_text())
    model = fairrec.Endpoint(
        url,
        protocol="json",
        features="users:years,users:gender",
        inputs={"age": "years"},
        rows_per_call=10_000,
    )
    audit(model)
    assert "['age', 'gender', 'item_id', 'user_id']" in server.log.read_text()[before:]


def test_what_is_missing_is_null_in_json():
    sent = {
        "height": np.array([1.5, np.nan]),
        "age": np.array([7, None], dtype=object),
        "column": np.array([["a"], ["b"]], dtype=object),
        "every_other": np.arange(4)[::2],
    }
    assert json.loads(to_json(sent)) == {
        "height": [1.5, None],
        "age": [7, None],
        "column": [["a"], ["b"]],
        "every_other": [0, 2],
    }


def test_a_ledger_of_an_endpoint_names_protocol_model_version_and_features(server: FaultyServer):
    url, _ = server.address("plain", PATHS["oip"])
    with_query = fairrec.Endpoint(f"{url}?key=1234")
    digest = with_query.identity().removeprefix(f"oip {url} query ").removesuffix(" version 7")
    assert re.fullmatch("[0-9a-f]{12}", digest)
    with_query.close()
    without = fairrec.Endpoint(url)
    assert without.identity() == f"oip {url} version 7"
    without.close()
    sent = fairrec.Endpoint(
        url, protocol="json", features="users:age", inputs={"uid": "user_id"}, output="x"
    )
    assert sent.identity() == f"json {url} users:age uid=user_id output x"
    sent.close()


def test_models_told_apart_by_their_query_do_not_share_a_ledger(server: FaultyServer, tmp_path):
    url, _ = server.address("one-of-two")
    how = SearchOptions("exact", ledger=tmp_path / "ledger.db")

    def ask(query: str) -> Any:
        model = fairrec.Endpoint(f"{url}?{query}", protocol="json", **QUICK)
        return audit(model, scorer_identity="", search=how)

    first = ask("model=aaaa")
    assert ask("model=aaaa").summary.search.users_paid == 0
    with pytest.raises(InputError, match="are of another model") as caught:
        ask("model=bbbb")
    for said in (str(caught.value), first.to_json(), how.ledger.read_bytes().decode("latin-1")):
        assert "aaaa" not in said
        assert "bbbb" not in said
    how = SearchOptions("exact", ledger=tmp_path / "other.db")
    assert answer_of(ask("model=bbbb"))["metrics"] != answer_of(first)["metrics"]


def test_the_digest_of_a_query_is_of_its_address():
    one, other = (parse_address(f"https://{host}/score?key=abcd") for host in ("a", "b"))
    assert one.query_digest() != other.query_digest()
    assert one.query_digest() == parse_address("https://a/score?key=abcd").query_digest()
    assert parse_address("https://a/score").query_digest() == ""


# what is sent and read, without a server


class Said:
    """Answers for a server with given JSON."""

    def __init__(self, **pages: Any) -> None:
        self._pages = {name.replace("_", "/"): page for name, page in pages.items()}

    def get(self, url: str) -> Any:
        return self._pages.get(url.partition("host/")[2])

    def is_there(self, url: str) -> bool:
        return True


def tensor(name: str, datatype: str, *shape: Any) -> dict[str, Any]:
    return {"name": name, "datatype": datatype, "shape": [*shape]}


def wire(protocol: str, path: str, **options: Any) -> Any:
    asked = Asked(f"http://host{path}", options.get("renamed", {}), options.get("output"), "It")
    return PROTOCOLS[protocol](asked)


COLUMNS = {"user_id": np.array([7, 8]), "item_id": np.array(["1", "2"], dtype=object)}


def test_oip_sends_typed_tensors_of_the_shape_the_model_asks_for():
    one = wire("oip", "/v2/models/m/versions/3/infer")
    assert one.url == "http://host/v2/models/m/versions/3/infer"
    seen = one.open(
        Said(
            v2_models_m_versions_3={
                "name": "m",
                "inputs": [tensor("user_id", "BYTES", -1), tensor("item_id", "INT32", -1, 1)],
                "outputs": [tensor("score", "FP32", -1, 1)],
            }
        )
    )
    assert (seen.model, seen.version, seen.is_ready) == ("m", "3", True)
    inputs = {one.name: one.values for one in one.bind(COLUMNS)}
    (users, items) = one.body(inputs)["inputs"]
    assert users.pop("data").tolist() == ["7", "8"]
    assert items.pop("data").tolist() == [1, 2]
    assert users == tensor("user_id", "BYTES", 2)
    assert items == tensor("item_id", "INT32", 2, 1)


def test_oip_without_metadata_sends_the_types_of_the_columns():
    one = wire("oip", "/v2/models/m")
    one.open(Said(v2_models_m={"name": "m"}))
    inputs = {one.name: one.values for one in one.bind(COLUMNS)}
    assert [part["datatype"] for part in one.body(inputs)["inputs"]] == ["INT64", "BYTES"]


def test_oip_refuses_missing_numbers_which_it_cannot_send():
    one = wire("oip", "/v2/models/m")
    one.open(Said(v2_models_m={"name": "m"}))
    with pytest.raises(InputError, match="cannot say so"):
        one.bind({**COLUMNS, "height": np.array([1.5, np.nan])})


def reply(datatype: str, shape: list[Any], data: Any, name: str = "score") -> dict[str, Any]:
    return {"outputs": [{"name": name, "datatype": datatype, "shape": shape, "data": data}]}


def test_oip_reads_numbers_in_the_type_they_were_written_in():
    one = wire("oip", "/v2/models/m")
    found = one.answer(reply("FP32", [2], [0.1, 2]), 2)
    assert found.tolist() == [float(np.float32(0.1)), 2.0]
    assert one.answer(reply("FP64", [2, 1], [[0.1], [2.5]]), 2).tolist() == [0.1, 2.5]
    assert one.answer(reply("INT64", [2], [3, 4]), 2).tolist() == [3, 4]


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({}, 'no list of "outputs"'),
        ([1], 'no list of "outputs"'),
        ({"outputs": [1]}, 'no list of "outputs"'),
        (reply("FP32", [3], [1, 2, 3]), "shape [3] for 2 pairs"),
        (reply("FP32", [2, 2], [1, 2, 3, 4]), "shape [2, 2] for 2 pairs"),
        (reply("FP32", [2], None), 'no list of "data"'),
        (
            {
                "outputs": reply("FP32", [2], [1, 2], "a")["outputs"]
                + reply("FP32", [2], [1, 2], "b")["outputs"]
            },
            "2 outputs (a, b)",
        ),
    ],
)
def test_oip_replies_that_are_none_are_refused(said, says):
    with pytest.raises(ScoringError, match=re.escape(says)):
        wire("oip", "/v2/models/m").answer(said, 2)


def test_oip_reads_no_number_as_infinite_without_a_word():
    # warnings are errors here
    found = wire("oip", "/v2/models/m").answer(reply("FP16", [2], [1e30, 0.5]), 2)
    assert found.tolist() == [np.inf, 0.5]


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({"versions": 5}, '"versions" that cannot be read: 5'),
        ({"versions": "12"}, '"versions" that cannot be read: 12'),
        ({"inputs": 7}, '"inputs" that cannot be read: 7'),
        ({"inputs": {"user_id": {}}}, '"inputs" that cannot be read'),
        ({"inputs": [1]}, '"inputs" that cannot be read: 1'),
        ({"outputs": [tensor("s", "FP32") | {"shape": 3}]}, '"outputs" that cannot be read'),
        ({"inputs": [tensor("u", "INT64", "abc")]}, '"shape" that cannot be read: abc'),
        ({"inputs": [tensor("u", "INT64", "9" * 5000)]}, '"shape" that cannot be read: 999'),
        ({"inputs": [tensor("u", "INT64", [2])]}, '"shape" that cannot be read: [2]'),
        ({"inputs": [tensor("u", "INT64", 1.5)]}, '"shape" that cannot be read: 1.5'),
    ],
)
def test_oip_metadata_that_is_none_is_an_error_in_words(said, says):
    with pytest.raises(ScoringError, match=re.escape(says)):
        wire("oip", "/v2/models/m").open(Said(v2_models_m=said))


def test_oip_sizes_may_be_text_or_missing():
    said = {"inputs": [tensor("u", "INT64", "-1", "1"), tensor("i", "INT64", None)]}
    seen = wire("oip", "/v2/models/m").open(Said(v2_models_m=said))
    assert [one.shape for one in seen.inputs] == [(-1, 1), (-1,)]


AVAILABLE = {"model_version_status": [{"version": "2", "state": "AVAILABLE"}]}


@pytest.mark.parametrize(
    ("status", "signature", "says"),
    [
        ({"model_version_status": 5}, None, '"model_version_status" that cannot be read: 5'),
        ({"model_version_status": [5]}, None, "no version of the model 'm' is available"),
        (AVAILABLE, {"inputs": [1]}, '"inputs" that cannot be read: [1]'),
        (AVAILABLE, {"outputs": "x"}, '"outputs" that cannot be read: x'),
        (AVAILABLE, {"inputs": {"u": {"tensor_shape": {"dim": 5}}}}, '"dim" that cannot be read'),
        (
            AVAILABLE,
            {"inputs": {"u": {"tensor_shape": {"dim": [{"size": "abc"}]}}}},
            '"size" that cannot be read: abc',
        ),
    ],
)
def test_tensorflow_serving_metadata_that_is_none_is_an_error_in_words(status, signature, says):
    page = {"metadata": {"signature_def": {"signature_def": {"serving_default": signature}}}}
    said = Said(v1_models_m=status, v1_models_m_metadata=page)
    with pytest.raises(ScoringError, match=re.escape(says)):
        wire("tfserving", "/v1/models/m").open(said)


def test_tensorflow_serving_is_asked_in_columns_by_its_signature():
    one = wire("tfserving", "/v1/models/m/versions/2:predict")
    assert one.url == "http://host/v1/models/m/versions/2:predict"

    def dims(*sizes: int) -> dict[str, Any]:
        return {"dim": [{"size": str(size)} for size in sizes], "unknown_rank": False}

    signature = {
        "inputs": {
            "user_id": {"dtype": "DT_INT64", "tensor_shape": dims(-1, 1)},
            "item_id": {"dtype": "DT_STRING", "tensor_shape": dims(-1)},
        },
        "outputs": {"score": {"dtype": "DT_FLOAT", "tensor_shape": dims(-1, 1)}},
    }
    seen = one.open(
        Said(
            v1_models_m_versions_2={
                "model_version_status": [{"version": "2", "state": "AVAILABLE"}]
            },
            v1_models_m_versions_2_metadata={
                "metadata": {"signature_def": {"signature_def": {"serving_default": signature}}}
            },
        )
    )
    assert (seen.version, seen.is_ready) == ("2", True)
    assert [str(spec) for spec in seen.inputs] == ["user_id INT64 [-1, 1]", "item_id BYTES [-1]"]
    body = one.body({one.name: one.values for one in one.bind(COLUMNS)})
    assert body["signature_name"] == "serving_default"
    assert body["inputs"]["user_id"].tolist() == [[7], [8]]
    assert body["inputs"]["item_id"].tolist() == ["1", "2"]
    assert one.answer({"outputs": [[0.5], [1.5]]}, 2).tolist() == [0.5, 1.5]
    assert one.answer({"outputs": {"score": [0.5, 1.5], "x": [1, 1]}}, 2).tolist() == [0.5, 1.5]
    with pytest.raises(ScoringError, match='no "outputs"'):
        one.answer({"predictions": [1, 2]}, 2)


@pytest.mark.parametrize(
    ("protocol", "url", "says"),
    [
        ("oip", "http://host/score", "Give http://HOST/v2/models/NAME"),
        ("tfserving", "http://host/v2/models/m", "Give http://HOST/v1/models/NAME"),
    ],
)
def test_an_address_of_another_protocol_is_refused(protocol, url, says):
    with pytest.raises(InputError, match=re.escape(says)):
        fairrec.Endpoint(url, protocol=protocol)


def test_ids_reach_a_model_as_they_are_in_the_table(tmp_path: Path):
    seen: list[Any] = []

    def noted(user_ids: Any, item_ids: Any) -> list[float]:
        seen.append((user_ids[0], item_ids[0]))
        return [0.1 * (i % 7) for i in range(len(user_ids))]

    def ask(users: Any, candidates: Any) -> Any:
        fairrec.audit(
            candidates, users=users, by="gender", metrics="mrr", permutations=0, scorer=noted
        )
        return seen[-1]

    users = USERS.with_columns(user_id=pl.Series(range(N_USERS)).cast(pl.String))
    numbers = CANDIDATES.with_columns(
        user_id=users["user_id"], item_id=pl.col("item_id").list.eval(pl.element().str.slice(1))
    )
    user, item = ask(users, numbers)
    assert (type(user), type(item)) == (str, str)
    whole = numbers.with_columns(
        pl.col("user_id").cast(pl.Int64), pl.col("item_id").cast(pl.List(pl.Int64))
    )
    user, item = ask(users.with_columns(pl.col("user_id").cast(pl.Int64)), whole)
    assert isinstance(user, np.int64)
    assert isinstance(item, np.int64)
    # CSV has no types: what looks like a number is one
    users.write_csv(tmp_path / "users.csv")
    numbers.explode("item_id", "label").write_csv(tmp_path / "candidates.csv")
    user, item = ask(tmp_path / "users.csv", tmp_path / "candidates.csv")
    assert isinstance(user, np.int64)
    assert isinstance(item, np.int64)


def test_a_text_item_is_still_found_in_a_table_of_numbers():
    items = pl.DataFrame({"item_id": range(40), "categories": [["a"], ["b"]] * 20})
    candidates = CANDIDATES.with_columns(
        item_id=pl.col("item_id").list.eval(pl.element().str.slice(1))
    )
    result = fairrec.audit(
        candidates, users=USERS, items=items, by="gender", metrics="urd", scorer=in_process
    )
    assert not [note for note in result.warnings if "no category" in note]
