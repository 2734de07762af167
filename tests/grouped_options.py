"""Rare options of calls that tests write flat, in the values that they travel in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any

import fairrec
from fairrec.core.options import spelled_for

GROUPS = ("statistics", "tables", "engine", "about")


def group_options(**flat: Any) -> dict[str, Any]:
    """The same arguments, of which rare ones stand in a `Statistics(...)` and so on."""
    if "scorer_identity" in flat and "attribute" not in flat:
        search = flat.get("search") or "exact"
        search = fairrec.Search(search) if isinstance(search, str) else search
        flat["search"] = replace(search, scorer_identity=flat.pop("scorer_identity"))
    kinds = {name: getattr(fairrec, name.title()) for name in GROUPS}
    if "attribute" in flat:
        kinds["sample"] = fairrec.Sample
    if isinstance(flat.get("engine"), str):
        flat["engine"] = fairrec.Engine(flat["engine"])
    for name, kind in kinds.items():
        known = [field.name for field in fields(kind) if field.name != "engine"]
        mine = {one: flat.pop(one) for one in known if one in flat}
        if mine:
            flat[name] = replace(flat[name], **mine) if flat.get(name) else kind(**mine)
    return flat


@contextmanager
def on_command_line() -> Iterator[None]:
    """Within it, options are spelled as flags."""
    with spelled_for(None):
        yield
