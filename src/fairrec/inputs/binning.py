"""Numbers -> bins, on request: `age:10` fixed width, `income:q5` quantiles."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from fairrec.core.arrays import CodeArray, FloatArray
from fairrec.core.errors import InputError, plain


@dataclass(frozen=True, slots=True)
class Binning:
    """How a numeric attribute is cut: bins of one width, or that many quantiles."""

    width: float | None = None
    quantiles: int | None = None


def parse_binning(text: str, spec: str) -> Binning:
    """The binning after the colon of an attribute.

    >>> parse_binning("10", "age:10")
    Binning(width=10.0, quantiles=None)
    >>> parse_binning("q5", "income:q5")
    Binning(width=None, quantiles=5)
    """
    if re.fullmatch(r"q\d{1,15}", text) and int(text[1:]) >= 2:
        return Binning(quantiles=int(text[1:]))
    try:
        width = float(text)
    except ValueError:
        width = 0.0
    if not (0 < width < np.inf):
        raise InputError(
            f"Attribute {plain(repr(spec))}: {plain(repr(text))} is no binning. Use a width above "
            "0 (age:10) or a number of quantiles from 2 (income:q5)."
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
    if binning.width is not None:
        return _bins_of_width(numbers, binning.width)
    assert binning.quantiles is not None
    return _quantile_bins(numbers, binning.quantiles)


def _bins_of_width(numbers: FloatArray, width: float) -> tuple[CodeArray, list[str]]:
    with np.errstate(over="ignore"):
        place = np.floor(numbers / width)
    if not np.isfinite(place).all() or np.abs(place).max() >= 1e11:
        raise InputError(f"bins of width {width:g} are too fine for its numbers. Use wider ones.")
    # 3 * 0.1 is a hair above 0.3, so a bin's edge is the number its label shows
    place += numbers >= _edge(place + 1, width)
    place -= numbers < _edge(place, width)
    bins, codes = np.unique(place + 0.0, return_inverse=True)
    whole = width == int(width) and (numbers == np.floor(numbers)).all()
    labels = []
    for low, high in zip(_edge(bins, width), _edge(bins + 1, width), strict=True):
        if whole and width == 1:
            labels.append(f"{low:.0f}")
        elif whole and low >= 0:
            labels.append(f"{low:.0f}-{high - 1:.0f}")
        else:
            labels.append(f"[{low:.12g}, {high:.12g})")
    return codes.astype(np.int32), labels


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
