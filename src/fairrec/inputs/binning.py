"""Numbers -> bins, on request: `age:10` fixed width, `income:q5` quantiles."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from fairrec.arrays import CodeArray, FloatArray
from fairrec.errors import InputError


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
    if re.fullmatch(r"q\d+", text) and int(text[1:]) >= 2:
        return Binning(quantiles=int(text[1:]))
    try:
        width = float(text)
    except ValueError:
        width = 0.0
    if not (0 < width < np.inf):
        raise InputError(
            f"Attribute {spec!r}: {text!r} is no binning. Use a width above 0 (age:10) or a number "
            "of quantiles from 2 (income:q5)."
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
    bins, codes = np.unique(np.floor(numbers / width), return_inverse=True)
    whole = width == int(width) and (numbers == np.floor(numbers)).all()
    labels = []
    for low in bins * width:
        if whole and width == 1:
            labels.append(f"{low:.0f}")
        elif whole and low >= 0:
            labels.append(f"{low:.0f}-{low + width - 1:.0f}")
        else:
            labels.append(f"[{low:g}, {low + width:g})")
    return codes.astype(np.int32), labels


def _quantile_bins(numbers: FloatArray, n_bins: int) -> tuple[CodeArray, list[str]]:
    inner = np.quantile(numbers, np.arange(1, n_bins) / n_bins, method="inverted_cdf")
    # equal numbers share a bin, so heavy ties give fewer bins than asked for
    bins, codes = np.unique(np.searchsorted(inner, numbers, side="left"), return_inverse=True)
    lows = [numbers[codes == code].min() for code in range(len(bins))]
    highs = [numbers[codes == code].max() for code in range(len(bins))]
    labels = [
        f"q{code + 1} [{low:g}, {high:g}]"
        for code, (low, high) in enumerate(zip(lows, highs, strict=True))
    ]
    return codes.astype(np.int32), labels
