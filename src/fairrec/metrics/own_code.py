"""The files behind own metrics, by which a plan tells whether a metric is still the same."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from fairrec.core.errors import plain
from fairrec.core.files import file_sum
from fairrec.metrics.registry import Metric

_PACKAGE = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True, order=True)
class OwnCode:
    """Code that is no part of FairRec.

    Parameters
    ----------
    name : of its file; of the metric where it is in none
    sha256 : of its text; empty where that is not known
    """

    name: str
    sha256: str


def own_code(metrics: Iterable[Metric], loaded: Iterable[Path] = ()) -> tuple[OwnCode, ...]:
    """The files that own metrics are written in, and those that were loaded for them."""
    found = {_of_metric(metric) for metric in metrics}
    found |= {OwnCode(plain(file.name), file_sum(file)) for file in loaded}
    return tuple(sorted(code for code in found if code is not None))


def _of_metric(metric: Metric) -> OwnCode | None:
    """None for a metric of FairRec."""
    compute: Any = metric.compute
    while isinstance(compute, partial):
        compute = compute.func
    compute = inspect.unwrap(compute)
    compute = compute if hasattr(compute, "__code__") else getattr(compute, "__call__", None)  # noqa: B004
    text = ""
    try:
        file = Path(compute.__code__.co_filename)
        if file.is_relative_to(_PACKAGE):
            return None
        if file.is_file():
            return OwnCode(plain(file.name), file_sum(file))
        # of a notebook, which keeps the text of its cells
        text = inspect.getsource(compute)
    except (AttributeError, OSError, TypeError):
        pass
    return OwnCode(plain(metric.name), hashlib.sha256(text.encode()).hexdigest() if text else "")
