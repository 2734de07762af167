"""Settings files: what they may hold, whatever they hold instead, and their checksum."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import Field

from fairrec.core.errors import FairRecError, UnknownNameError
from fairrec.core.option_types import Form, Names, Pairs, Share, Table, Whole
from fairrec.core.options import Option, list_options, options
from fairrec.core.settings import compute_checksum, read_settings


@options
class Trip:
    """A trip."""

    n_days: Annotated[Whole, Field(ge=1), Option("How long")] = 3
    through: Annotated[Names, Option("Stops")] = ()
    packed: Annotated[
        Annotated[dict[str, Share], Pairs, Form("thing=share", is_list=True)] | None,
        Option("Bags"),
    ] = None
    chart: Annotated[Path | None, Option("A map")] = None
    people: Annotated[Table, Option("Who")] = None


KNOWN = list_options(Trip)


def written(folder: Path, text: str | bytes, name: str = "fairrec.toml") -> Path:
    file = folder / name
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def values(folder: Path, text: str | bytes) -> dict[str, Any]:
    return {**read_settings(written(folder, text), KNOWN).values}


def refused(folder: Path, text: str | bytes) -> str:
    with pytest.raises(FairRecError) as caught:
        values(folder, text)
    said = str(caught.value)
    assert said.startswith(f"{folder / 'fairrec.toml'}: ")
    return said.removeprefix(f"{folder / 'fairrec.toml'}: ")


def test_options_are_read_by_their_kinds_in_the_forms_of_toml(tmp_path):
    text = """
        n_days = 7
        through = ["sea", "hill, top"]  # a name may have a comma
        [packed]
        box = 0.5
        "a.b" = "5%"
    """
    assert values(tmp_path, text) == {
        "n_days": 7,
        "through": ("sea", "hill, top"),
        "packed": {"box": 0.5, "a.b": 0.05},
    }


def test_a_list_of_text_is_text_with_commas_where_the_option_reads_no_lists(tmp_path):
    assert values(tmp_path, 'packed = ["box=5%", "bag=10%"]') == {
        "packed": {"box": 0.05, "bag": 0.1}
    }
    assert refused(tmp_path, 'packed = ["box=5%", "bag"]') == (
        "invalid 'packed': expected thing=share, got 'bag'"
    )


def test_paths_lead_from_the_folder_of_the_file(tmp_path, monkeypatch):
    (tmp_path / "deep").mkdir()
    file = written(tmp_path / "deep", 'people = "../who.csv"\nchart = "/maps/a.png"')
    assert read_settings(file, KNOWN).values == {
        "people": tmp_path / "deep" / "../who.csv",
        "chart": Path("/maps/a.png"),
    }
    monkeypatch.chdir(tmp_path)
    written(tmp_path, 'people = "who.csv"')
    assert read_settings("fairrec.toml", KNOWN).values == {"people": Path("who.csv")}


@pytest.mark.parametrize("path", ["7", "true", "[]", '["a"]', '""', '" "', "{a=1}"])
def test_a_table_is_named_by_a_path(tmp_path, path):
    said = refused(tmp_path, f"people = {path}")
    assert said.startswith("invalid 'people': expected a path, from the folder of this file, got ")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("n_days = 0", "invalid 'n_days': expected a whole number from 1, got 0"),
        ("n_days = true", "invalid 'n_days': expected a whole number from 1, got True"),
        ("n_days = nan", "invalid 'n_days': expected a whole number from 1, got nan"),
        ("n_days = inf", "invalid 'n_days': expected a whole number from 1, got inf"),
        ("n_days = 2020-01-01", "got datetime.date(2020, 1, 1)"),
        ("n_days = [1]", "invalid 'n_days': expected a whole number from 1, got [1]"),
        ("n_days = {a = 1}", "invalid 'n_days': expected a whole number from 1, got {'a': 1}"),
        ("through = 7", "invalid 'through': expected names, with commas between them, got 7"),
        (
            'through = ["a", 7]',
            "invalid 'through': expected names, with commas between them, got 7",
        ),
        ("[through]\na = 1", "expected names, with commas between them, got {'a': 1}"),
        ("packed = 7", "invalid 'packed': expected thing=share, got 7"),
        ('packed = "box"', "invalid 'packed': expected thing=share, got 'box'"),
        ('[packed]\nbox = "x"', "invalid 'packed': expected thing=share, got 'box=x'"),
        ("[packed]\nbox = {}", "invalid 'packed': expected thing=share, got 'box={}'"),
        ("n_days = 1\nn_days = 2\n", "is no TOML (Cannot overwrite a value (at line 2, column 11)"),
        ("n_days: 7", "is no TOML (Expected '=' after a key"),
    ],
)
def test_what_does_not_fit_names_the_file_the_key_and_what_is_valid(tmp_path, text, says):
    assert says in refused(tmp_path, text)


@pytest.mark.parametrize(("key", "nearest"), [("n_day", "n_days"), ("Through", "through")])
def test_an_unknown_key_is_an_error_with_the_nearest_name(tmp_path, key, nearest):
    with pytest.raises(UnknownNameError):
        values(tmp_path, f"{key} = 1")
    assert refused(tmp_path, f"{key} = 1") == (
        f"No setting '{key}'. Did you mean '{nearest}'? "
        "Known: chart, n_days, packed, people, through."
    )


def test_the_checksum_is_of_what_is_said_and_not_of_how(tmp_path):
    def of(text: str) -> str:
        return compute_checksum(read_settings(written(tmp_path, text), KNOWN).content)

    first = of('n_days = 2\nthrough = ["a"]\n[plan]\nn = 1\nchecksum = "x"')
    assert len(first) == 64
    assert first == of('# why\nthrough = [ "a" ]\nn_days=2\n[plan]\nchecksum = "y"\nn = 1\n')
    for other in (
        'n_days = 3\nthrough = ["a"]\n[plan]\nn = 1',
        'n_days = 2\nthrough = ["b"]\n[plan]\nn = 1',
        'n_days = 2\nthrough = ["a"]\n[plan]\nn = 2',
        'n_days = 2\nthrough = ["a"]\n[plan]\nn = 1979-05-27',
        'n_days = 2\nthrough = ["a"]\n[plan]\nn = 1\nm = 1',
        'n_days = 2\nthrough = ["a"]',
        "[plan]\nn = 1",
    ):
        assert of(other) != first


def test_options_may_stand_under_audit_beside_a_policy(tmp_path: Path):
    file = tmp_path / "fairrec.toml"
    file.write_text('n_days = 2\n[audit]\nthrough = "Rome"\n[[rule]]\nmetric = "x"\n[require]\n')
    assert read_settings(file, list_options(Trip)).values == {"n_days": 2, "through": ("Rome",)}
