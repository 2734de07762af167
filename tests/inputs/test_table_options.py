from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.auditing.doctor import examine
from fairrec.core.errors import InputError
from fairrec.inputs.table_options import TableOptions
from fairrec.metrics.reading import read_inputs
from fairrec.mitigation.remedy import RerankerRecord
from fairrec.scoring.model import FunctionModel
from tests.builders import make_tables


def test_tables_are_paths_or_tables_and_lists_may_be_text():
    table = pl.DataFrame({"user_id": [1]})
    options = TableOptions(users="u.csv", items=table, by="gender,age:10", columns={"label": "y"})
    assert options.users == Path("u.csv")
    assert options.items is table
    assert options.by == ("gender", "age:10")
    assert options.columns == TableOptions.of(columns="label=y").columns == {"label": "y"}
    assert options.metrics is None


GIVEN_WRONG = [
    ("by", None, "names, with commas between them, got None"),
    ("by", 5, "names, with commas between them, got 5"),
    ("by", ["gender", 5], "names, with commas between them, got 5"),
    ("by", {"gender": 2}, "names, with commas between them, got {'gender': 2}"),
    ("by", b"gender", "names, with commas between them, got b'gender'"),
    ("metrics", 5, "names, with commas between them, got 5"),
    ("metrics", [None], "names, with commas between them, got None"),
    ("columns", 5, "name=column, such as user_id=uid, got 5"),
    ("columns", "a", "name=column, such as user_id=uid, got 'a'"),
    ("columns", {5: "a"}, "name=column, such as user_id=uid, got 5"),
    ("columns", {"label": 5}, "name=column, such as user_id=uid, got 'label=5'"),
]


@pytest.mark.parametrize(("name", "given", "says"), GIVEN_WRONG)
def test_what_names_nothing_is_refused_in_words(name, given, says):
    with pytest.raises(InputError) as caught:
        TableOptions.of(**{name: given})
    assert str(caught.value) == f"invalid {name}: expected {says}"


@pytest.mark.parametrize("metrics", ["", " , ", [], ()])
def test_a_list_of_metrics_without_any_is_refused(metrics):
    with pytest.raises(InputError, match=r"^No metric is named\. Example: metrics=\['auc'"):
        TableOptions.of(metrics=metrics)
    with pytest.raises(InputError, match=r"^No metric is named\. Example: metrics=\['churn'\]$"):
        TableOptions.of(metrics=metrics, values="churn.csv")


def test_an_array_of_names_is_a_list_of_names():
    options = TableOptions.of(metrics=np.array(["auc", "mrr"]), by=pl.Series(["gender"]))
    assert options.metrics == ("auc", "mrr")
    assert options.by == ("gender",)


@pytest.mark.parametrize(("name", "given", "says"), GIVEN_WRONG)
def test_every_way_in_reads_the_tables_options(name, given, says):
    tables = make_tables(8)
    ways = {
        "audit": lambda **given: fairrec.audit(tables.predictions, **given),
        "mitigate": lambda **given: fairrec.mitigate(tables.predictions, metric="auc", **given),
        "inputs": lambda **given: read_inputs(tables.predictions, **given),
    }
    for way in ways.values():
        with pytest.raises(InputError, match=f"^invalid {name}: expected "):
            way(**{"users": tables.users, "by": "gender", name: given})
    if name == "columns":
        record = RerankerRecord.model_construct(reranker="mmr", by=["gender"])
        with pytest.raises(InputError, match=r"^invalid columns: expected "):
            fairrec.rerank(record, tables.predictions, users=tables.users, columns=given)
        with pytest.raises(InputError, match=r"^invalid columns: expected "):
            examine(FunctionModel(lambda users, items: users), tables.predictions, columns=given)


def test_columns_may_be_text_on_every_way_in():
    tables = make_tables(8)
    predictions = tables.predictions.rename({"label": "y"})
    given = {"users": tables.users, "by": "gender", "min_support": 1, "permutations": 0}
    result = fairrec.audit(predictions, **given, columns="label=y", metrics=np.array(["auc"]))
    assert result.summary.columns == {"label": "y"}
    model = FunctionModel(lambda users, items: [float(user) for user in range(len(users))])
    seen = examine(model, predictions.rename({"user_id": "u"}), columns="user_id=u")
    assert seen.n_users == 8
