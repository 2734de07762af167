"""The file of a plan: the same bytes for the same plan, and nobody else's file replaced."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import polars as pl
import pytest

import fairrec
from fairrec.auditing.call_repr import read_plan
from fairrec.auditing.options import SETTINGS
from fairrec.core.errors import FairRecError, InputError, OutputError
from fairrec.core.files import file_sum
from fairrec.core.settings import read_settings
from tests.auditing.plan_builders import make_plan, write_world


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
    assert frozen["attributes"]["member"]["n_values"] == 2
    assert {*frozen["attributes"]["member"]["values"]} == {"False", "True"}
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


def test_a_comment_may_be_added_and_lines_may_end_as_on_windows(world):
    file = make_plan(world).save(world / "plan.toml")
    text = file.read_text("utf-8")
    file.write_bytes(f"# agreed with the works council\n{text}".replace("\n", "\r\n").encode())
    assert read_plan(file).facts.n_users == 80


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
    assert max(len(value) for value in plan.facts.attributes[strange].values) <= 80


def test_a_plan_that_could_not_be_read_back_is_refused(world):
    names = [f"column {number} {'x' * 3000}" for number in range(100)]
    users = pl.DataFrame({"user_id": range(40), **{name: [0, 1] * 20 for name in names}})
    with pytest.raises(InputError, match="has more than 256 KiB"):
        make_plan(world, users=users, by=names, depth=1).save(world / "plan.toml")
