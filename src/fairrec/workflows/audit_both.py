"""An audit of both sides of the same lists: whom they serve, and what they show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fairrec.core.audit_options import AboutOptions, AuditOptions
from fairrec.core.options import called
from fairrec.core.progress import Progress
from fairrec.core.told import told_command
from fairrec.core.units import Side
from fairrec.inputs.columns import check_mapping, named_column, refuse_unused
from fairrec.inputs.table_options import TABLE_NAMES, TableOptions
from fairrec.inputs.tables import Table
from fairrec.metrics.matters import matters_of
from fairrec.metrics.parsing import of_side, parse_metric, refuse_unknown
from fairrec.metrics.reading import read_inputs
from fairrec.metrics.registry import TABLE_OF_NEED
from fairrec.report.page.both import both_page
from fairrec.result.both_sides import BothSides
from fairrec.result.group_table import RESERVED
from fairrec.workflows.audit import audit_inputs
from fairrec.workflows.audit_items import audit_items
from fairrec.workflows.repeated_call import audit_call, said_of_tables


def audit_both(
    predictions: Any,
    tables: TableOptions,
    options: AuditOptions,
    progress: Progress,
    *,
    command: str | None,
    about: AboutOptions,
) -> BothSides:
    """The audits of users and of items, by the stages that each has, of tables that are read once.

    Parameters
    ----------
    command : None for the calls that repeat each of them, and both
    """
    columns = tables.columns or {}
    check_mapping(columns)
    sources = {"predictions": predictions, **{name: getattr(tables, name) for name in TABLE_NAMES}}
    opened = {
        name: Table.of(source, name, columns).kept()
        for name, source in sources.items()
        if source is not None
    }
    refuse_unused(columns, {name: table.columns for name, table in opened.items()})
    named = () if options.matters is None else [name for name, _ in options.matters.by_metric]
    for name in (*(tables.metrics or ()), *(tables.better or ()), *named):
        refuse_unknown(name)
    of_users, users_options = _of_side("users", tables, options, opened)
    of_items, items_options = _of_side("items", tables, options, opened)
    lists = opened.get("predictions")
    with called(by="by_users"):
        inputs, wanted = read_inputs(
            lists, **vars(of_users), reserved=RESERVED, max_memory=options.max_memory
        )
        users_options = replace(users_options, matters=matters_of(users_options.matters, wanted))
        users = audit_inputs(inputs, wanted, users_options, progress, command=command, about=about)
    with called(by="by_items"):
        items = audit_items(lists, of_items, items_options, progress, command=command, about=about)
    if command is None:
        said = said_of_tables(tables, [*users.metrics, *items.metrics])
        command = audit_call(said, options, about)
    return BothSides(users, items, told_command(command), both_page)


def _of_side(
    side: Side, tables: TableOptions, options: AuditOptions, opened: Mapping[str, Table]
) -> tuple[TableOptions, AuditOptions]:
    """What one side is told, with the tables that it shares with the other."""
    mine = of_side({**vars(tables), "matters": options.matters}, side)
    options = replace(options, matters=mine.pop("matters"))
    named = [parse_metric(name, side).metric for name in mine["metrics"] or ()]
    needed = {TABLE_OF_NEED.get(need) for metric in named for need in metric.needs}
    if side == "users" and "items" not in needed:
        # it is there for the other side, and need not have categories
        del mine["items"]
    shared = {name: table for name, table in opened.items() if name in (*mine, "predictions")}
    known = [name for table in shared.values() for name in table.columns]
    columns = {one: at for one, at in (tables.columns or {}).items() if named_column(at, known)}
    mine |= {name: table for name, table in shared.items() if name in mine}
    mine["columns"] = columns or None
    return TableOptions.of(**mine), options
