"""Numbers -> bins, on request: `age:10` fixed width, `income:q5` quantiles, `age:18|25` edges."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from fairrec.core.arrays import CodeArray, FloatArray
from fairrec.core.errors import InputError, plain


@dataclass(frozen=True, slots=True)
class Binning:
    """How a numeric attribute is cut: bins of one width, quantiles, or own inner edges."""

    width: float | None = None
    quantiles: int | None = None
    edges: tuple[float, ...] = ()

    @property
    def in_words(self) -> str:
        """As the result tells it.

        >>> Binning(edges=(18, 25)).in_words
        'edges 18, 25'
        """
        if self.edges:
            return f"edges {', '.join(f'{edge:.12g}' for edge in self.edges)}"
        return f"{self.quantiles} quantiles" if self.quantiles else f"width {self.width:g}"


def parse_binning(text: str, spec: str) -> Binning:
    """The binning after the colon of an attribute.

    >>> parse_binning("10", "age:10").width, parse_binning("q5", "income:q5").quantiles
    (10.0, 5)
    >>> parse_binning("18|25|40", "age:18|25|40").edges, parse_binning("40|", "age:40|").edges
    ((18.0, 25.0, 40.0), (40.0,))
    """
    if "|" in text:
        return Binning(edges=_parse_edges(text, spec))
    if re.fullmatch(r"q\d{1,15}", text) and int(text[1:]) >= 2:
        return Binning(quantiles=int(text[1:]))
    width = _number(text)
    if width is None or width <= 0:
        raise InputError(
            f"Attribute {plain(repr(spec))}: {plain(repr(text))} is no binning. Use a width above "
            "0 (age:10), a number of quantiles from 2 (income:q5) or edges of your own "
            "(age:18|25|40, a single one age:40|)."
        )
    return Binning(width=width)


def bin_numbers(numbers: FloatArray, binning: Binning) -> tuple[CodeArray, list[str]]:
    """Codes in increasing order of the bins, and a label for each bin that holds a number.

    Parameters
    ----------
    numbers : finite; missing values are taken out before
    """
    if len(numbers) == 0:
        return np.zeros(0, dtype=np.int32), []
    if binning.edges:
        return _bins_between(numbers, binning.edges)
    if binning.width is not None:
        return _bins_of_width(numbers, binning.width)
    assert binning.quantiles is not None
    return _quantile_bins(numbers, binning.quantiles)


def _parse_edges(text: str, spec: str) -> tuple[float, ...]:
    """Rising numbers; a last mark without a number says that a single one is an edge too."""
    edges = [_number(part) for part in text.removesuffix("|").split("|")]
    found = [edge for edge in edges if edge is not None]
    # labels show twelve digits, and an edge is the number its label shows
    is_shown = all(float(f"{edge:.12g}") == edge for edge in found)
    is_rising = all(low < high for low, high in pairwise(found))
    if len(found) < len(edges) or not is_shown or not is_rising:
        raise InputError(
            f"Attribute {plain(repr(spec))}: {plain(repr(text))} are no edges of bins. Use rising "
            "numbers of at most twelve digits: age:18|25|40 for below 18, 18-24, 25-39 and 40+."
        )
    return tuple(found)


def _number(text: str) -> float | None:
    """A finite number, or None; 1_0 is a slip, and no way to write 10."""
    if "_" in text:
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number + 0.0 if math.isfinite(number) else None


def _bins_between(numbers: FloatArray, edges: Sequence[float]) -> tuple[CodeArray, list[str]]:
    """Below the first edge, from each edge to the next, from the last one on."""
    bins, codes = np.unique(np.searchsorted(edges, numbers, side="right"), return_inverse=True)
    whole = _are_whole(numbers) and _are_whole(np.array(edges))
    labels = []
    for place in bins:
        low = edges[place - 1] if place else -math.inf
        high = edges[place] if place < len(edges) else math.inf
        labels.append(_label(low, high, whole))
    return codes.astype(np.int32), labels


def _bins_of_width(numbers: FloatArray, width: float) -> tuple[CodeArray, list[str]]:
    with np.errstate(over="ignore"):
        place = np.floor(numbers / width)
    if not np.isfinite(place).all() or np.abs(place).max() >= 1e11:
        raise InputError(f"bins of width {width:g} are too fine for its numbers. Use wider ones.")
    bins, at = np.unique(place, return_inverse=True)
    # 3 * 0.1 is a hair above 0.3, so a bin's edge is the number its label shows
    place += numbers >= _edge(bins + 1, width)[at]
    place -= numbers < _edge(bins, width)[at]
    bins, codes = np.unique(place, return_inverse=True)
    whole = width == int(width) and _are_whole(numbers)
    bounds = zip(_edge(bins, width), _edge(bins + 1, width), strict=True)
    return codes.astype(np.int32), [_label(low, high, whole) for low, high in bounds]


def _are_whole(numbers: FloatArray) -> bool:
    return bool((numbers == np.floor(numbers)).all())


def _label(low: float, high: float, whole: bool) -> str:
    """What lies from `low` up to, but not including, `high`."""
    if low == -math.inf:
        return f"<{high:.12g}"
    if high == math.inf:
        return f"{low:.0f}+" if whole and low >= 0 else f">={low:.12g}"
    if whole and high - low == 1:
        return f"{low:.0f}"
    if whole and low >= 0:
        return f"{low:.0f}-{high - 1:.0f}"
    return f"[{low:.12g}, {high:.12g})"


def as_interval(label: str) -> str:
    """The label of the same bin among numbers that are not all whole.

    >>> as_interval("20-29"), as_interval("40+"), as_interval("7"), as_interval("<18")
    ('[20, 30)', '>=40', '[7, 8)', '<18')
    """
    if found := re.fullmatch(r"(\d+)-(\d+)", label):
        return _label(float(found[1]), float(found[2]) + 1, whole=False)
    if found := re.fullmatch(r"(\d+)\+", label):
        return _label(float(found[1]), math.inf, whole=False)
    if re.fullmatch(r"-?\d+", label):
        return _label(float(label), float(label) + 1, whole=False)
    return label


def _edge(place: FloatArray, width: float) -> FloatArray:
    """Where a bin begins, to twelve digits."""
    return np.array([float(f"{value:.12g}") + 0.0 for value in place * width])


def _quantile_bins(numbers: FloatArray, n_bins: int) -> tuple[CodeArray, list[str]]:
    n_bins = min(n_bins, len(numbers))
    inner = np.quantile(numbers, np.arange(1, n_bins) / n_bins, method="inverted_cdf")
    # equal numbers share a bin, so heavy ties give fewer bins than asked for
    bins, codes = np.unique(np.searchsorted(inner, numbers, side="left"), return_inverse=True)
    order = np.argsort(codes, kind="stable")
    bounds = np.searchsorted(codes[order], np.arange(len(bins)))
    lows = np.minimum.reduceat(numbers[order], bounds)
    highs = np.maximum.reduceat(numbers[order], bounds)
    labels = [
        f"q{code + 1} [{low + 0.0:.12g}, {high + 0.0:.12g}]"
        for code, (low, high) in enumerate(zip(lows, highs, strict=True))
    ]
    return codes.astype(np.int32), labels
