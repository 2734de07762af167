"""What a re-ranking does to the other side: how much of their attention lists give to items."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairrec.core.errors import InputError
from fairrec.core.options import Blank, spelled
from fairrec.inputs.candidates import CandidateLists
from fairrec.inputs.catalogue import Catalogue, read_catalogue
from fairrec.inputs.ids import positions_in
from fairrec.inputs.several import MOST_EACH
from fairrec.inputs.side import SideData, as_lists
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.tables import Table
from fairrec.inputs.users import MISSING
from fairrec.metrics.attention import discounts
from fairrec.metrics.ranked import RankedLists, mean_over_places
from fairrec.mitigation.schema import ExposureChange
from fairrec.result.changes import change_of
from fairrec.statistics.paired import change_verdict
from fairrec.statistics.simultaneous import holm


def catalogue_of(tables: TableOptions, by_items: Sequence[str]) -> Catalogue | None:
    """The items by the attributes named, or by their categories; None where there are none."""
    if tables.items is None:
        if by_items:
            raise InputError(
                f"{spelled('by_items')} are columns of the items. Give them: "
                f"{spelled('items', Blank('FILE'))}"
            )
        return None
    table = Table.of(tables.items, "items", tables.columns)
    by = by_items or _categories(table)
    return read_catalogue(table, by) if by else None


def _categories(table: Table) -> Sequence[str]:
    """Each category as an attribute, where that is not too many."""
    column = table.find("categories")
    if column is None:
        return ()
    values = as_lists(table.read({"categories": column})["categories"], table.where, column)
    return (f"{column}:each",) if 0 < values.explode().n_unique() <= MOST_EACH else ()


def exposure_changes(
    before: CandidateLists,
    after: CandidateLists,
    catalogue: Catalogue,
    k: int,
    alpha: float,
    threads: int = 1,
) -> tuple[ExposureChange, ...]:
    """The share of a list's attention that each group of items gets, the largest change first.

    As `share@k` has it: places of items whose value is not known are left out, and told as a group
    of their own where the items are in the catalogue. Lists are compared user by user, and verdicts
    adjusted for all groups (Holm). Of an attribute that is yes or no, yes is told.
    """
    items = positions_in(before.item_ids, catalogue.item_keys)
    ranked = [RankedLists(lists, k, SideData(), threads) for lists in (before, after)]
    found = []
    for attribute in catalogue.units.attributes(np.arange(catalogue.n_units)):
        is_answer = {*attribute.values} <= {"yes", "no", MISSING}
        for code, value in enumerate(attribute.values):
            if is_answer and value != "yes":
                continue
            is_in = attribute.codes == code
            is_known = np.array([value == MISSING or one != MISSING for one in attribute.values])
            has_value = np.where(is_known[attribute.codes], is_in, np.nan)
            per_item = np.append(has_value, np.nan)[items]
            shares = [mean_over_places(one, k, per_item, discounts(k)) for one in ranked]
            found.append(
                ExposureChange(
                    group={attribute.name: value},
                    n_items=int(is_in.sum()),
                    share_of_items=float(is_in.sum() / catalogue.n_units),
                    change=change_of(shares[0], shares[1], None, alpha),
                )
            )
    return tuple(sorted(_adjusted(found, alpha), key=_size, reverse=True))


def _adjusted(found: Sequence[ExposureChange], alpha: float) -> list[ExposureChange]:
    p_values = [1.0 if one.change.p_value is None else one.change.p_value for one in found]
    adjusted = holm(np.array(p_values, dtype=np.float64))
    return [
        one.model_copy(
            update={
                "change": one.change.model_copy(
                    update={"verdict": change_verdict(one.change.change or 0.0, p, None, alpha)}
                )
            }
        )
        for one, p in zip(found, adjusted.tolist(), strict=True)
    ]


def _size(one: ExposureChange) -> float:
    return abs(one.change.change or 0.0)
