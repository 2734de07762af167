"""Draw a chart, and the groups of a small audit with a search."""

from __future__ import annotations

from functools import cache
from xml.etree.ElementTree import Element, fromstring

import fairrec
from fairrec.report.page.groups import PageGroups
from tests.worlds import ATTRIBUTES, random_world


def svg(chart) -> str:
    """The picture; a specification that is not valid is an error."""
    import vl_convert

    # checks the specification, then draws it
    return vl_convert.vegalite_to_svg(chart.to_dict())


def marks(picture: str, kind: str) -> list[Element]:
    """The marks of a kind, such as `symbol`, that data are drawn with."""
    groups = fromstring(picture).iterfind(".//{*}g")
    drawn = [part for part in groups if f"mark-{kind} role-mark" in part.get("class", "")]
    return [mark for part in drawn for mark in part]


@cache
def searched_groups() -> PageGroups:
    """The groups of a small audit with a search."""
    users, predictions = random_world(600, {"gender": "F"}, effect=1.0, seed=1)
    result = fairrec.audit(
        predictions,
        users=users,
        by=list(ATTRIBUTES),
        metrics=["auc", "mrr@5"],
        statistics=fairrec.Statistics(permutations=49),
        min_support=10,
        search=fairrec.Search("adaptive", budget_users="50%"),
    )
    return PageGroups(result.group_table, result.summary)
