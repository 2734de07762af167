"""Trained runs are loaded by the packages that have an entry point for them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fairrec.core.errors import InputError
from fairrec.scoring import model


def offers(*loads: Callable[[Path], Any]) -> Callable[..., list[Any]]:
    """Entry points whose objects load so."""

    def entry_points(group: str) -> list[Any]:
        assert group == "fairrec.runs"
        return [
            SimpleNamespace(load=lambda load=load: SimpleNamespace(load=load)) for load in loads
        ]

    return entry_points


def refuse(folder: Path) -> Any:
    raise InputError(f"{folder}: is no run of mine.")


def test_the_first_package_that_takes_a_folder_loads_it(monkeypatch):
    monkeypatch.setattr(model, "entry_points", offers(refuse, lambda folder: ("run in", folder)))
    assert model.load_run(Path("a")) == ("run in", Path("a"))


def test_a_folder_that_no_package_takes_is_refused_in_words_of_the_first(monkeypatch):
    monkeypatch.setattr(model, "entry_points", offers(refuse))
    with pytest.raises(InputError, match="a: is no run of mine"):
        model.load_run(Path("a"))


def test_without_any_package_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(model, "entry_points", offers())
    with pytest.raises(InputError, match=r"pip install 'fairrec\[paper\]'"):
        model.load_run(Path("a"))
