"""`fairrec-paper datasets`, `fairrec-paper prepare` and `fairrec-paper synthetic`."""

from __future__ import annotations

from pathlib import Path

from fairrec_paper.datasets.bundle import read_bundle
from tests.fairrec_paper.command_line import run_paper

SMALL = ("--users", "300", "--items", "120", "--seed", "1", "--quiet")


def test_worlds_of_every_kind_are_made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = run_paper(
        *("synthetic", "--out", "w", "--shape", "blackfriday", "--users", "200", "--items", "90"),
        *("--worse-served", "gender=F", "--gap", "diversity", "--strength", "0.5", "--skew", "1"),
        *("--categories", "30", "--interactions", "12", "--taste", "0.7"),
    )
    assert ran.code == 0, ran.stderr
    assert "planted in gender=F" in read_bundle(Path("w")).manifest.source
    ran = run_paper("synthetic", "--out", "v", "--attributes", "a:2,b:3", *SMALL)
    assert ran.code == 0, ran.stderr
    assert read_bundle(Path("v")).manifest.attributes == ("a", "b")
    for arguments, says in (
        (("--attributes", "a"), "name:number"),
        (("--worse-served", "gender"), "attribute=value"),
        (("--shape", "movielens"), "Did you mean 'movielens-1m'"),
        (("--attributes", "user_id:2"), "cannot be called user_id"),
        (("--skew", "nan"), "invalid --skew: expected"),
        (("--seed", "-1"), "invalid --seed: expected"),
    ):
        ran = run_paper("synthetic", "--out", "u", *arguments)
        assert ran.code == 2
        assert says in ran.stderr
        assert not Path("u").exists()


def test_data_sets_are_listed_and_prepared(movielens, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = run_paper("datasets")
    assert ran.code == 0
    assert "movielens-1m" in ran.stdout
    assert "294" in ran.stdout
    ran = run_paper("prepare", "movielens-1m", "--raw", str(movielens), "--out", "ml", "--quiet")
    assert ran.code == 0, ran.stderr
    assert "6,040 users" in ran.stdout
    ran = run_paper("prepare", "movielens", "--raw", str(movielens), "--out", "x")
    assert ran.code == 2
    assert "Did you mean 'movielens-1m'" in ran.stderr
