"""A model before its audit: one batch, asked again, backwards and in part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairrec.inputs.columns import check_mapping
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.tables import Table
from fairrec.scoring.model import Model
from fairrec.scoring.model_check import Examination, examine_lists, first_lists


def examine(
    model: Model,
    predictions: Any,
    users: Any = None,
    items: Any = None,
    columns: Mapping[str, str] | str | None = None,
) -> Examination:
    """Ask a model for one batch, and see what it does.

    Parameters
    ----------
    predictions : candidates, with or without scores
    users, items : needed for features
    """
    given = TableOptions.of(users=users, items=items, columns=columns)
    check_mapping(given.columns or {})
    sources = {"predictions": predictions, "users": given.users, "items": given.items}
    tables = {
        name: Table(source, name, given.columns)
        for name, source in sources.items()
        if source is not None
    }
    model.open()
    try:
        candidates, user_ids = first_lists(tables, model.rows_per_call)
        return examine_lists(model, tables, candidates, user_ids)
    finally:
        model.close()
