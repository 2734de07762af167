"""Numbers and outside text as people read them."""

from __future__ import annotations

import math
from collections.abc import Mapping

from fairrec.core.errors import plain
from fairrec.groups.group import Group
from fairrec.inputs.users import Value


def number(value: float | None) -> str:
    """Three significant digits, at most six decimals, a dash for nothing.

    >>> number(0.123456), number(-12.3456), number(12345.6), number(0.00004), number(None)
    ('0.123', '-12.3', '12,346', '0.00004', '-')
    """
    if value is None or math.isnan(value):
        return "-"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    if abs(value) < 5e-7:
        return "0"
    decimals = min(6, max(0, 2 - math.floor(math.log10(abs(value)))))
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text and abs(value) < 1e-3 else text


def signed(value: float) -> str:
    """The same with its sign.

    >>> signed(0.5), signed(-0.5)
    ('+0.500', '-0.500')
    """
    return number(value) if value < 0 else f"+{number(value)}"


def p_value(value: float) -> str:
    """A p-value, three decimals at most.

    >>> p_value(0.0310), p_value(0.000999)
    ('0.031', '0.001')
    """
    return f"{value:.3f}" if value >= 0.0005 else "<0.001"


def percent(share: float) -> str:
    """A share in percent; what is not nothing is never shown as nothing, nor almost all as all.

    >>> percent(0.642), percent(0.0312), percent(0.00001), percent(0.99999), percent(1.0)
    ('64%', '3.1%', '<0.1%', '>99.9%', '100%')
    """
    # a mean of centred values may miss all and nothing by the last digits
    share = round(share, 12) + 0.0
    if 0 < share < 0.0005:
        return "<0.1%"
    if 0.9995 < share < 1:
        return ">99.9%"
    digits = 1 if share < 0.095 or 0.995 <= share < 1 else 0
    return f"{100 * share:.{digits}f}%".replace(".0%", "%")


def confidence(alpha: float) -> str:
    """The confidence of an interval at a significance level.

    >>> confidence(0.05), confidence(0.001)
    ('95%', '99.9%')
    """
    return f"{100 * (1 - alpha):.3g}%"


def group_label(group: Mapping[str, Value]) -> str:
    """The conditions of a group on one line."""
    return Group(tuple((plain(name), plain(value)) for name, value in group.items())).label


def plural(n: int, noun: str) -> str:
    """A count with its noun.

    >>> plural(1, "group"), plural(1200, "group")
    ('1 group', '1,200 groups')
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
