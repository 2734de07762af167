"""The file of a plan: the same bytes for the same plan, and nobody else's file replaced."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import polars as pl
import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

import fairrec
from fairrec.auditing import plan_file as module
from fairrec.auditing.choices import Choices, Plan, read_plan
from fairrec.auditing.options import AUDITED, SETTINGS
from fairrec.auditing.plan_file import PlanFacts
from fairrec.core.errors import FairRecError, InputError, OutputError
from fairrec.core.files import file_sum
from fairrec.core.settings import Settings, compute_checksum, read_settings
from fairrec.report.audit_result import AuditResult
from tests.auditing.plan_builders import audit_by, make_plan, write_world
from tests.grouped_options import on_command_line
from tests.planning.test_plan_options import SAMPLES, value_of


@pytest.fixture
def world(tmp_path: Path) -> Path:
    return write_world(tmp_path)


def test_the_same_plan_is_the_same_bytes_here_and_in_a_folder_moved_with_its_tables(world):
    made = make_plan(world, sd=0.3)
    first = made.save(world / "plan.toml").read_bytes()
    assert make_plan(world, sd=0.3).save(world / "plan.toml").read_bytes() == first
    shutil.copytree(world, world / "moved")
    moved = make_plan(world / "moved", sd=0.3).save(world / "moved" / "plan.toml")
    assert moved.read_bytes() == first
    assert make_plan(world, sd=0.31).save(world / "plan.toml").read_bytes() != first


def test_a_plan_frozen_again_is_the_same_bytes(world):
    options = {
        "columns": {"users.user_id": "user_id"},
        "relevant": "rating>=4",
        "min_support": "10%",
        "depth": "full",
        "items": world / "items.parquet",
        "mean": 0.5,
        "sd": 0.3,
    }
    file = make_plan(world, **options).save(world / "deep" / "plan.toml")
    first = file.read_bytes()
    fairrec.plan(settings=file).save(file)
    assert file.read_bytes() == first


def test_the_file_holds_settings_and_what_they_were_frozen_with(world):
    file = make_plan(world, items=world / "items.parquet", better=None).save(world / "a" / "p.toml")
    content = tomllib.loads(file.read_text("utf-8"))
    assert content["users"] == "../users.parquet"
    assert content["by"] == ["gender", "member"]
    assert (content["alpha"], content["seed"], content["permutations"]) == (0.05, 0, 19)
    frozen = content["plan"]
    for name in ("users", "items"):
        assert frozen["tables"][name] == {
            "file": f"{name}.parquet",
            "sha256": file_sum(world / f"{name}.parquet"),
        }
    assert frozen["attributes"]["member"] == 2
    assert frozen["n_users"] == 80
    assert [groups["depth"] for groups in frozen["groups"]] == [1, 2]
    settings = read_settings(file, SETTINGS)
    assert settings.values["users"].resolve() == (world / "users.parquet").resolve()


def test_one_changed_character_breaks_the_plan_or_changes_nothing_it_says(world):
    file = make_plan(world, sd=0.3).save(world / "plan.toml")
    text = file.read_text("utf-8")
    says = tomllib.loads(text)
    n_broken, places = 0, range(0, len(text), 5)
    for at in places:
        character = text[at]
        other = "1" if character == "0" else "0" if character.isdigit() else "x"
        changed = f"{text[:at]}{other}{text[at + 1 :]}"
        file.write_text(changed, encoding="utf-8")
        try:
            read_plan(file)
        except FairRecError:
            n_broken += 1
        else:
            assert tomllib.loads(changed) == says, f"character {at}: {character!r} -> {other!r}"
    comments = len("".join(line for line in text.splitlines() if line.startswith("#")))
    assert n_broken > 0.9 * (len(text) - comments) / 5


def test_a_table_in_memory_has_no_path(world):
    users = pl.read_parquet(world / "users.parquet")
    file = make_plan(world, users=users).save(world / "plan.toml")
    content = tomllib.loads(file.read_text())
    assert "users" not in content
    assert content["plan"]["tables"]["users"] == {}
    with pytest.raises(InputError, match="users is missing"):
        fairrec.plan(settings=file)


def test_only_a_plan_is_replaced(world):
    made = make_plan(world)
    by_hand = world / "fairrec.toml"
    by_hand.write_text("# with care\nalpha = 0.1\n")
    (world / "folder.toml").mkdir()
    (world / "other.toml").write_text("not = a = toml")
    for name in ("fairrec.toml", "users.parquet", "folder.toml", "other.toml", "plan.json"):
        with pytest.raises(FairRecError):
            made.save(world / name)
    assert by_hand.read_text() == "# with care\nalpha = 0.1\n"
    with pytest.raises(OutputError, match="is there already and is no plan"):
        made.save(by_hand)
    with pytest.raises(OutputError, match=r"Name it NAME\.toml"):
        made.save(world / "users.parquet")
    assert made.save(world / "plan.toml") == made.save(world / "plan.toml")


def test_hostile_names_and_values_are_written_and_read(world):
    strange = 'a"b\\\n\x7f\x00=[x]'
    users = pl.DataFrame(
        {"user_id": range(60), strange: ["y" * 500, '"', "\u202e"] * 20, "g": ["a", "b"] * 30}
    )
    users.write_parquet(world / "strange.parquet")
    made = make_plan(world, users=world / "strange.parquet", by=[strange, "g"])
    plan = read_plan(made.save(world / "plan.toml"))
    assert plan.settings.values["by"] == (strange.strip(), "g")
    assert plan.facts.attributes == {strange: 3, "g": 2}


FACTS = PlanFacts(
    fairrec_version="0",
    n_users=1,
    users_sha256="",
    min_users=1,
    tables={},
    attributes={},
    groups=(),
)


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
    file.write_text(tomli_w.dumps(written), encoding="utf-8")
    assert read_settings(file, SETTINGS).values == of_layer(layer)


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
    assert audit_by(file, world, metrics=None).summary.plan.deviations == ()


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
    with pytest.raises(InputError) as caught, on_command_line():
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
        Choices.read({}, None, plan)
    with pytest.raises(InputError, match="is a frozen plan"):
        audit_by(None, world, settings=plan)


@pytest.mark.parametrize("frozen", [{}, {"checksum": 7}, {"n_users": "many"}])
def test_a_table_that_no_version_has_written_is_no_plan(tmp_path, frozen):
    file = tmp_path / "plan.toml"
    file.write_text(tomli_w.dumps({"alpha": 0.1, "plan": frozen}))
    with pytest.raises(InputError, match="was changed after it was frozen"):
        read_plan(file)
    content = {"alpha": 0.1, "plan": frozen}
    content["plan"] = {**frozen, "checksum": compute_checksum(content)}
    file.write_text(tomli_w.dumps(content))
    with pytest.raises(InputError, match="is no plan of this version of FairRec"):
        read_plan(file)


ALL = "all held-out items, or labels above 0"


def deviations_of(result: AuditResult) -> tuple[str, ...]:
    assert result.summary.plan is not None
    return result.summary.plan.deviations


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        ({"alpha": "0.1"}, ("alpha 0.1 (planned 0.05)",)),
        ({"seed": 7, "top": 2}, ("top 2 (planned 1)", "seed 7 (planned 0)")),
        ({"depth": "full"}, ("depth full (planned 3)",)),
        ({"min_support": "20%"}, ("min_support 0.2 (planned 0.1% of users, at least 10)",)),
        ({"metrics": "ndcg@5,auc"}, ("metrics ndcg@5,auc (planned ndcg@5)",)),
        ({"metrics": "ndcg@10"}, ("metrics ndcg@10 (planned ndcg@5)",)),
        ({"by": "gender"}, ("by gender (planned gender,member)",)),
        ({"relevant": "label>=1"}, (f"relevant label>=1 (planned {ALL})",)),
        ({"columns": {"label": "label"}}, ("columns label=label (planned none)",)),
        (
            {"tolerance": "5%"},
            ("tolerance 5% (planned none, so that no group can be within tolerance)",),
        ),
        ({"adjust_for": "n_relevant"}, ("adjust_for n_relevant (planned none)",)),
        # what changes nothing
        ({"threads": 1}, ()),
        ({"by": "member,gender"}, ()),
        ({"metrics": ["NDCG"]}, ()),
        ({"alpha": "0.05", "permutations": 19.0}, ()),
    ],
)  # fmt: skip
def test_an_option_that_differs_is_a_line(world, options, lines):
    file = make_plan(world).save(world / "plan.toml")
    assert deviations_of(audit_by(file, world, **options)) == lines


def test_another_users_table_is_told(world):
    file = make_plan(world).save(world / "plan.toml")
    users = pl.read_parquet(world / "users.parquet")
    other = users.with_columns(gender=pl.col("gender").replace({"M": "X"}))
    other.write_parquet(world / "others.parquet")
    (table,) = deviations_of(audit_by(file, world, users=world / "others.parquet"))
    known = read_plan(file).facts.tables["users"].sha256[:12]
    assert table.startswith("users table others.parquet, checksum ")
    assert table.endswith(f"(planned users.parquet, checksum {known})")


def test_users_who_are_not_audited_change_no_value_of_the_plan(world):
    file = make_plan(world, min_support=1).save(world / "plan.toml")
    women = pl.read_parquet(world / "users.parquet").filter(gender="F")["user_id"]
    predictions = pl.read_parquet(world / "predictions.parquet")
    some = predictions.filter(pl.col("user_id").is_in(women.implode()))
    # the users table is that of the plan, and who is audited of it is counted
    assert deviations_of(fairrec.audit(some, plan=file)) == (
        f"{some['user_id'].n_unique():,} users audited (planned 80)",
    )


def test_other_users_in_memory_are_told_by_their_number_and_by_who_they_are(world):
    users = pl.read_parquet(world / "users.parquet")
    values = users.select("user_id", churn=pl.int_range(pl.len()) % 3)
    file = make_plan(
        world, users=users, by="gender", metrics="churn", better={"churn": "lower"}
    ).save(world / "plan.toml")

    def audited(who: pl.DataFrame, what: pl.DataFrame = values) -> tuple[str, ...]:
        return deviations_of(fairrec.audit(values=what, users=who, plan=file))

    assert audited(users) == audited(users.reverse()) == audited(users.to_pandas()) == ()
    assert audited(users, values.head(60)) == ("60 users audited (planned 80)",)
    # as many of each value as before
    renamed = [frame.with_columns(pl.col("user_id") + "x") for frame in (users, values)]
    swapped = users.with_columns(gender=pl.col("gender").reverse())
    for line in (*audited(*renamed), *audited(swapped)):
        assert line.startswith("users in memory with other ids or attributes, checksum ")
    assert len(audited(*renamed)) == len(audited(swapped)) == 1


def test_a_table_in_memory_cannot_be_compared_but_by_its_values(world):
    users = pl.read_parquet(world / "users.parquet")
    of_file = make_plan(world).save(world / "plan.toml")
    (line,) = deviations_of(audit_by(of_file, world, users=users))
    assert line.startswith("users table in memory (planned users.parquet, checksum ")
    of_frame = make_plan(world, users=users).save(world / "frame.toml")
    assert deviations_of(audit_by(of_frame, world, users=users)) == ()
    fewer = users.with_columns(gender=pl.lit("F"))
    (others,) = deviations_of(audit_by(of_frame, world, users=fewer))
    assert others.startswith("users in memory with other ids or attributes, checksum ")


def test_a_search_that_leaves_users_unscored_is_a_line(world):
    plan = make_plan(world).save(world / "plan.toml")
    how = fairrec.Search("random", budget_users=40)
    (line,) = deviations_of(audit_by(plan, world, search=how))
    assert line == "the searcher random scored 40 of 80 users (planned all)"
    assert deviations_of(audit_by(plan, world, search="exact")) == ()


def test_another_version_is_a_line(world, monkeypatch):
    plan = make_plan(world).save(world / "plan.toml")
    monkeypatch.setattr(module, "__version__", "9.9")
    planned = read_plan(plan).facts.fairrec_version
    assert deviations_of(audit_by(plan, world)) == (f"FairRec 9.9 (planned with {planned})",)
