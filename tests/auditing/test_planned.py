"""Where the options of an audit come from."""

from __future__ import annotations

import inspect
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairrec
from fairrec.auditing.call_repr import Choices, Plan, read_plan, settings_of
from fairrec.auditing.options import AUDITED, SETTINGS
from fairrec.core.errors import InputError, UnknownNameError
from fairrec.core.options import from_command_line
from fairrec.core.settings import Settings, checksum_of, read_settings, to_toml
from fairrec.result.plan_schema import PlanFacts
from tests.auditing.plan_builders import audit_by, make_plan, write_world
from tests.planning.test_plan_options import SAMPLES, value_of

FACTS = PlanFacts(fairrec_version="0", n_users=1, min_users=1, tables={}, attributes={}, groups=())
LAYERS = st.dictionaries(st.sampled_from(sorted({*SAMPLES} & {*AUDITED})), st.integers(0, 4))


def of_layer(layer: dict[str, int]) -> dict[str, object]:
    """A value for each option of a layer, as it would be read."""
    return {
        name: value_of(name, SAMPLES[name][at % len(SAMPLES[name])]) for name, at in layer.items()
    }


def settings(values: dict[str, object]) -> Settings:
    return Settings(Path("fairrec.toml"), "0" * 64, {}, values)


@given(LAYERS, LAYERS, LAYERS)
def test_what_is_given_beats_the_plan_and_the_plan_beats_the_settings(given, planned, found):
    layers = [of_layer(layer) for layer in (given, planned, found)]
    chosen = Choices(layers[0], Plan(settings(layers[1]), FACTS), settings(layers[2]))
    for name in AUDITED:
        winner = next((layer[name] for layer in layers if name in layer), None)
        assert chosen.values.get(name) == winner
    assert {*chosen.from_settings} == {*found} - {*planned} - {*given}
    assert Choices(layers[0], None, None).values == layers[0]


@given(LAYERS)
def test_what_a_file_sets_is_what_was_given_to_it(tmp_path_factory, layer):
    file = tmp_path_factory.getbasetemp() / "fairrec.toml"
    written = {name: SAMPLES[name][at % len(SAMPLES[name])] for name, at in layer.items()}
    file.write_text(to_toml(written), encoding="utf-8")
    assert read_settings(file, SETTINGS).values == of_layer(layer)


@pytest.fixture
def world(tmp_path: Path) -> Path:
    return write_world(tmp_path)


def test_an_audit_by_a_plan_is_the_audit_with_its_options(world):
    file = make_plan(world, alpha=0.1, depth=1).save(world / "plan.toml")
    by_plan = audit_by(file, world)
    by_hand = audit_by(
        None, world, users=world / "users.parquet", by=["gender", "member"], metrics="ndcg@5",
        permutations=19, alpha=0.1, depth=1,
    )  # fmt: skip
    assert by_plan.group_table.equals(by_hand.group_table)
    assert by_plan.metrics == by_hand.metrics
    plan = by_plan.summary.plan
    assert plan is not None
    assert (plan.file, plan.deviations) == ("plan.toml", ())
    assert by_plan.run.inputs["plan"].absolute == str(file)
    assert plan.checksum == read_plan(file).facts.checksum
    assert {"users", "by", "metrics", "alpha", "depth", "seed"} <= {*plan.options}
    assert (by_hand.summary.plan, by_hand.summary.settings) == (None, None)


def test_a_value_that_is_given_beats_the_plan_even_where_it_is_the_default(world):
    file = make_plan(world, alpha=0.1).save(world / "plan.toml")
    result = audit_by(file, world, alpha=0.05)
    assert result.summary.alpha == 0.05
    assert result.summary.plan.deviations == ("alpha 0.05 (planned 0.1)",)
    assert "alpha" not in result.summary.plan.options
    # None stands for nothing given
    assert audit_by(file, world, metrics=None, alpha=None).summary.plan.deviations == ()


def test_settings_are_recorded_with_what_was_taken_from_them(world):
    file = world / "fairrec.toml"
    file.write_text('users = "users.parquet"\nby = "gender"\nmetrics = "auc"\npermutations = 9')
    result = audit_by(None, world, settings=file, metrics="mrr")
    assert [*result.metrics] == ["mrr@5"]
    assert result.summary.permutations == 9
    found = result.summary.settings
    assert found.file == "fairrec.toml"
    assert result.run.inputs["settings"].absolute == str(file)
    assert found.options == ("users", "by", "permutations")
    assert found.sha256 == read_settings(file, SETTINGS).sha256
    assert result.summary.plan is None


def test_a_plan_beats_settings_and_what_only_settings_say_is_a_deviation(world):
    plan = make_plan(world, alpha=0.1).save(world / "plan.toml")
    file = world / "fairrec.toml"
    file.write_text('alpha = 0.2\nmin_support = 20\nthreads = 1\nitems = "items.parquet"')
    summary = audit_by(plan, world, settings=file).summary
    assert summary.alpha == 0.1
    assert summary.settings.options == ("min_support", "threads", "items")
    assert summary.plan.deviations == ("min_support 20 (planned 0.1% of users, at least 10)",)


def test_a_plan_that_was_changed_is_refused_with_the_way_out(world):
    file = make_plan(world).save(world / "plan.toml")
    file.write_text(file.read_text().replace("alpha = 0.05", "alpha = 0.06"))
    with pytest.raises(InputError, match=r"was changed after it was frozen \(checksum \w{12}, "):
        audit_by(file, world)
    with from_command_line(), pytest.raises(InputError) as caught:
        read_plan(file)
    assert "freeze it again: fairrec plan --settings " in str(caught.value)
    fairrec.plan(settings=file).save(file)
    assert audit_by(file, world).summary.alpha == 0.06


def test_a_plan_that_is_in_no_file_is_not_frozen(world):
    with pytest.raises(InputError, match=r"Save it first: plan=made\.save\('plan\.toml'\)"):
        audit_by(make_plan(world), world)


def test_settings_are_no_plan_and_a_plan_is_no_settings(world):
    file = world / "fairrec.toml"
    file.write_text("alpha = 0.1")
    with pytest.raises(InputError, match="is not frozen, so it is no plan"):
        read_plan(file)
    plan = make_plan(world).save(world / "plan.toml")
    with pytest.raises(InputError, match=r"is a frozen plan\. Run it as one: plan="):
        settings_of(plan)
    with pytest.raises(InputError, match="is a frozen plan"):
        audit_by(None, world, settings=plan)


@pytest.mark.parametrize("frozen", [{}, {"checksum": 7}, {"n_users": "many"}])
def test_a_table_that_no_version_has_written_is_no_plan(tmp_path, frozen):
    file = tmp_path / "plan.toml"
    file.write_text(to_toml({"alpha": 0.1, "plan": frozen}))
    with pytest.raises(InputError, match="was changed after it was frozen"):
        read_plan(file)
    content = {"alpha": 0.1, "plan": frozen}
    content["plan"] = {**frozen, "checksum": checksum_of(content)}
    file.write_text(to_toml(content))
    with pytest.raises(InputError, match="is no plan of this version of FairRec"):
        read_plan(file)


def test_what_a_later_version_adds_is_let_pass(world):
    file = make_plan(world).save(world / "plan.toml")
    content = {**read_plan(file).settings.content}
    content["plan"] = {**content["plan"], "more": {"n": 1}}
    content["plan"]["checksum"] = checksum_of(content)
    file.write_text(to_toml(content))
    assert read_plan(file).facts.n_users == 80
    # an option is none of that: it says what is tested
    content["newer"] = 1
    content["plan"]["checksum"] = checksum_of(content)
    file.write_text(to_toml(dict(sorted(content.items(), key=lambda part: part[0] == "plan"))))
    with pytest.raises(UnknownNameError, match="No setting 'newer'"):
        read_plan(file)


def test_the_signature_of_an_audit_is_its_own():
    parameters = inspect.signature(fairrec.audit).parameters
    assert {"predictions", "plan", "settings", "alpha"} <= {*parameters}
    assert "plan : a file" in fairrec.audit.__doc__


def test_without_attributes_an_audit_asks_for_them(world):
    predictions = pl.read_parquet(world / "predictions.parquet")
    with pytest.raises(InputError, match="No attribute is named"):
        fairrec.audit(predictions, users=world / "users.parquet")
