"""The file of a plan: the same bytes for the same plan, and nobody else's file replaced."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import polars as pl
import pytest

import fairrec
from fairrec.auditing import plan_file as module
from fairrec.auditing.choices import Choices, read_plan
from fairrec.auditing.options import SETTINGS
from fairrec.core.errors import FairRecError, InputError, OutputError
from fairrec.core.files import file_sum
from fairrec.core.settings import read_settings
from fairrec.report.audit_result import AuditResult
from tests.auditing.plan_builders import audit_by, make_plan, write_world


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
