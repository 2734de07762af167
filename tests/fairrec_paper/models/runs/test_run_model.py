"""A run that is asked with other attributes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fairrec.core.errors import InputError
from fairrec_paper.models.run import Run, RunModel, load_run
from tests.fairrec_paper.models.runs.small_run import small_run


@pytest.fixture(params=["deepfm", "fgcnn"])
def run(tmp_path: Path, request: pytest.FixtureRequest) -> Run:
    return load_run(small_run(tmp_path, request.param))


def columns_of(run: Run) -> dict[str, np.ndarray]:
    users = {name: run.users[name].to_numpy() for name in ("user_id", *run.record.attributes)}
    return {**users, "item_id": run.items["item_id"].to_numpy()}


def scores(model: RunModel, columns: dict[str, np.ndarray], user: int) -> np.ndarray:
    inputs = {one.name: one.values for one in model.bind(columns)}
    items = inputs["item"]
    return model.answer({"user": np.repeat(inputs["user"][user], len(items)), "item": items})


def test_as_they_are_users_have_the_scores_of_the_run(run: Run):
    columns = columns_of(run)
    expected = run.score(
        np.repeat(columns["user_id"][3], len(columns["item_id"])), columns["item_id"]
    )
    assert scores(RunModel(run), columns, 3) == pytest.approx(expected)


def test_a_changed_user_has_the_embeddings_of_the_other_value_and_its_own_id(run: Run):
    columns, model = columns_of(run), RunModel(run)
    name = run.record.attributes[0]
    values = columns[name]
    other = next(one for one in values if one != values[3])
    changed = {**columns, name: np.where(np.arange(len(values)) == 3, other, values)}
    found = scores(model, changed, 3)
    # the same with the row of the model itself rewritten
    again = load_run(run.folder)
    twin = int(np.flatnonzero(values == other)[0])
    for module in again.model.modules():
        if hasattr(module, "user_rows"):
            module.user_rows[3, 1] = module.user_rows[twin, 1]
    expected = again.score(
        np.repeat(columns["user_id"][3], len(columns["item_id"])), columns["item_id"]
    )
    assert found == pytest.approx(expected)
    # nobody else has changed, nor the user as it is
    assert scores(model, changed, 4) == pytest.approx(scores(model, columns, 4))
    assert scores(model, columns, 3) != pytest.approx(found)


def test_values_that_it_never_saw_are_refused(run: Run):
    columns = columns_of(run)
    name = run.record.attributes[0]
    columns[name] = np.array(["X"] * len(columns[name]), dtype=object)
    with pytest.raises(InputError, match=f"has never seen X as {name}"):
        RunModel(run).bind(columns)


def test_it_names_itself_by_its_weights(run: Run):
    assert RunModel(run).identity().startswith("run ")
    assert [one.column for one in RunModel(run).features] == list(run.record.attributes)
