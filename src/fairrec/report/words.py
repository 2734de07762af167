"""Numbers, outside text and tables as people read them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fairrec.core.errors import LONGEST_TEXT, plain
from fairrec.groups.group import Group
from fairrec.inputs.users import MISSING, Value

EMPTY = "(empty)"
MINUS = "\u2212"
"""The sign of a negative number wherever people read it; files for programs hold numbers."""
_DIGITS, _MOST_DIGITS = 3, 9
_PLAIN = (1e-4, 1e12)
"""Sizes that are written without an exponent."""
_NOISE = 1e-12
"""What arithmetic leaves of nothing, as a share of the numbers it was done with."""
_RIGHT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
_RIGHT_TO_LEFT = re.compile(rf"[{_RIGHT}](?:[{_RIGHT}\W_]*[{_RIGHT}])?")
"""From one letter of such a script to the last before a letter of another, or a digit."""


def number(value: float | None, beside: float | None = None) -> str:
    """Three significant digits, with an exponent where that is shorter, a dash for nothing.

    >>> number(0.123456), number(12345.6), number(1e-7), number(0.0), number(None)
    ('0.123', '12,346', '1.00e\u22127', '0', '-')

    Parameters
    ----------
    beside : a number it was reckoned from, next to which what rounding leaves is nothing
    """
    if value is not None and beside is not None and is_nothing(value, beside):
        return "0"
    return _written(value, abs(value or 0.0), _DIGITS)


def rounded_up(value: float) -> str:
    """Three significant digits, and no less than the number: a bound stays a bound.

    >>> rounded_up(0.12301), rounded_up(0.5), rounded_up(1234.2)
    ('0.124', '0.500', '1,235')
    """
    step = min(1.0, 10.0 ** (_exponent(value) + 1 - _DIGITS))
    return number(math.ceil(round(value / step, 6)) * step)


def is_nothing(value: float, beside: float) -> bool:
    """Whether a number is what rounding leaves of nothing, next to one it was reckoned from.

    >>> is_nothing(1 - 0.9 - 0.1, 1.0), is_nothing(1e-7, 1.0)
    (True, False)
    """
    return abs(value) <= _NOISE * abs(beside) < math.inf


def signed(value: float, beside: float | None = None) -> str:
    """The same with its sign.

    >>> signed(0.5), signed(-0.5), signed(0.0)
    ('+0.500', '\u22120.500', '0')
    """
    return with_sign(number(value, beside))


def with_sign(text: str) -> str:
    """A number as it is written, with its sign where it is positive.

    >>> with_sign("0.500"), with_sign("0")
    ('+0.500', '0')
    """
    return text if text in ("0", "-") or text.startswith(MINUS) else f"+{text}"


def tick(value: float) -> str:
    """A round number on a scale, with its sign and no digits more than it has.

    >>> tick(-0.25), tick(0.0), tick(3e-08)
    ('\u22120.25', '0', '+3e\u22128')
    """
    mantissa, has_exponent, exponent = f"{value:+g}".partition("e")
    text = f"{mantissa}e{int(exponent)}" if has_exponent else mantissa
    return text.replace("-", MINUS) if value else "0"


def numbers(*values: float | None) -> tuple[str, ...]:
    """Numbers that are read together: as many decimals each, and enough to tell them apart.

    >>> numbers(0.5, 0.4998766)
    ('0.5000', '0.4999')
    >>> numbers(0.0123, 0.456)
    ('0.012', '0.456')
    """
    known = sorted([value for value in values if value is not None and math.isfinite(value)])
    size = near = max(known[-1], -known[0]) if known else 0.0
    least = math.inf
    for at, value in enumerate(known):
        # 0.830 beside 1.078 has three digits too
        if size / 2 <= abs(value) < near:
            near = abs(value)
        # steps that are rounding tell nothing apart
        if at and size * 10.0**-_MOST_DIGITS < value - known[at - 1] < least:
            least = value - known[at - 1]
    exponent = _exponent(size)
    digits = _DIGITS + exponent - _exponent(near)
    if least < math.inf:
        digits = min(_MOST_DIGITS, max(digits, exponent - _exponent(least) + 1))
    return tuple([_written(value, size, digits) for value in values])


def interval(low: float | None, high: float | None, *beside: float) -> str:
    """Two ends with digits that tell them apart, from each other and from what is beside them.

    >>> interval(0.49991, 0.50009)
    '0.4999 to 0.5001'
    """
    return " to ".join(numbers(low, high, *beside)[:2])


def signed_interval(low: float | None, high: float | None, *beside: float) -> str:
    """The same with signs; an end that is None has no limit.

    >>> signed_interval(-0.3, None)
    '\u22120.300 to no limit'
    """
    return _signed_ends(*numbers(low, high, *beside)[:2])


def signed_with_interval(
    size: float | None, low: float | None, high: float | None
) -> tuple[str, str]:
    """A difference, and its interval with as many digits; a dash for what is not known.

    >>> signed_with_interval(0.25, 0.1, None)
    ('+0.250', '+0.100 to no limit')
    >>> signed_with_interval(0.25, None, None)
    ('+0.250', '-')
    """
    texts = numbers(size, low, high)
    is_known = size is not None and not (low is None and high is None)
    return with_sign(texts[0]), _signed_ends(*texts[1:]) if is_known else "-"


def _signed_ends(*texts: str) -> str:
    return " to ".join(["no limit" if text == "-" else with_sign(text) for text in texts])


def _exponent(value: float) -> int:
    return math.floor(math.log10(abs(value))) if value else 0


def _written(value: float | None, size: float, digits: int) -> str:
    """A number with the decimals of one of this size, or with an exponent where that is shorter."""
    if value is None or math.isnan(value):
        return "-"
    if not math.isfinite(value):
        return f"{value}".replace("-", MINUS)
    if abs(value) <= _NOISE * size:
        return "0"
    least, most = _PLAIN
    text = f"{value:,.{max(0, digits - 1 - _exponent(size))}f}"
    if not least <= size < most:
        text = _with_exponent(value, digits)
    elif not text.strip("-0."):
        # what is not nothing is never written as nothing
        text = f"{value:.{-_exponent(value)}f}" if least <= abs(value) else _with_exponent(value, 1)
    return text.replace("-", MINUS)


def _with_exponent(value: float, digits: int) -> str:
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def p_value(value: float, least: float = 0.0) -> str:
    """A p-value, three decimals at most; as a bound where it is the least that can be shown.

    >>> p_value(0.0310), p_value(0.00012), p_value(0.002, least=0.002)
    ('0.031', '<0.001', '\u22640.002')
    >>> p_value(0.0)
    '<0.001'

    Parameters
    ----------
    least : the smallest p-value that the permutations can show
    """
    if least and value <= least * (1 + 1e-9) and value < 1:
        digits = 3 if value >= 0.0005 else 1 - _exponent(value)
        # a bound may be rounded up only
        return f"\u2264{math.ceil(round(value * 10**digits, 6)) / 10**digits:.{digits}f}"
    return f"{value:.3f}" if value >= 0.0005 else "<0.001"


def p_is(text: str) -> str:
    """A p-value as it is written, in a sentence.

    >>> p_is("0.031"), p_is("\u22640.002")
    ('p = 0.031', 'p \u2264 0.002')
    """
    return f"p = {text}" if text[0].isdigit() else f"p {text[0]} {text[1:]}"


def percent(share: float) -> str:
    """A share in percent; what is not nothing is never shown as nothing, nor almost all as all.

    >>> percent(0.642), percent(0.0312), percent(0.00001), percent(0.99999), percent(12.5)
    ('64%', '3.1%', '<0.1%', '>99.9%', '1,250%')
    """
    # a mean of centred values may miss all and nothing by the last digits
    share = round(share, 12) + 0.0
    if 0 < share < 0.0005:
        return "<0.1%"
    if 0.9995 < share < 1:
        return ">99.9%"
    digits = 1 if abs(share) < 0.095 or 0.995 <= share < 1 else 0
    return f"{100 * share:,.{digits}f}%".replace(".0%", "%").replace("-", MINUS)


def confidence(alpha: float) -> str:
    """The confidence of an interval at a significance level.

    >>> confidence(0.05), confidence(0.001)
    ('95%', '99.9%')
    """
    return f"{100 * (1 - alpha):.3g}%"


def group_label(group: Mapping[str, Value]) -> str:
    """The conditions of a group on one line."""
    return Group(tuple((plain(name), shown(value)) for name, value in group.items())).label


def shown(value: Value, longest: int = LONGEST_TEXT) -> str:
    """The value of an attribute; an empty one is marked.

    >>> shown("F"), shown("")
    ('F', '(empty)')
    """
    return plain(value, longest) if str(value).strip() else EMPTY


def isolated(text: str) -> str:
    """A sentence whose words from right to left keep to themselves, where a browser shows it.

    Else it would move numbers that follow such a name.

    >>> isolated("\u05d0 \u05d1=c (0.5)") == "\u2068\u05d0 \u05d1\u2069=c (0.5)"
    True
    """
    return text if text.isascii() else _RIGHT_TO_LEFT.sub("\u2068\\g<0>\u2069", text)


def with_and(texts: Sequence[str]) -> str:
    """Texts as a sentence lists them.

    >>> with_and(["a"]), with_and(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    *others, last = texts
    return f"{', '.join(others)} and {last}" if others else last


def plural(n: int, noun: str) -> str:
    """A count with its noun.

    >>> plural(1, "group"), plural(1200, "group")
    ('1 group', '1,200 groups')
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


_FIRST_NUMBER = re.compile(
    r"(?P<below>under|below|up to|less than|<=?|≤)?\s*[\[(]?"
    r"(?P<number>[-\u2212]?\d{1,15}(\.\d{1,15})?)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(\d{1,15}(?:\.\d{1,15})?)")

ValueOrder = tuple[int, float, tuple[tuple[int, float, str], ...], str]


def value_order(value: str) -> ValueOrder:
    """Numbers and ranges by their first number, then words and the numbers in them, missing last.

    >>> sorted(["b", "(missing)", "18-24", "9", "under 18", "a"], key=value_order)
    ['9', 'under 18', '18-24', 'a', 'b', '(missing)']
    >>> sorted(["City 10", "city 9", "City 2"], key=value_order)
    ['City 2', 'city 9', 'City 10']
    """
    parts = tuple(
        (0, float(part), "") if at % 2 else (1, 0.0, part.casefold())
        for at, part in enumerate(_NUMBER.split(value))
        if part
    )
    found = _FIRST_NUMBER.match(value)
    if found is None:
        return (2 if value == MISSING else 1), 0.0, parts, value
    below = 1e-9 if found["below"] else 0.0
    return 0, float(found["number"].replace("\u2212", "-")) - below, parts, value


@dataclass(frozen=True, slots=True)
class TableView:
    """A table as text: which columns are numbers, and a row of text each."""

    title: str
    columns: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
