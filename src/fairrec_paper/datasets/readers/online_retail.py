"""Online Retail: a year of invoices of a British web shop; attributes come from behaviour."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl

from fairrec.core.errors import InputError
from fairrec.core.progress import Progress
from fairrec_paper.datasets.bundle import (
    ATTRIBUTES,
    DATASETS,
    RULE,
    Bundle,
    Dataset,
    behaviour_deciles,
    counted,
    first_of_each_pair,
    make_bundle,
    most_frequent,
)
from fairrec_paper.datasets.raw_files import (
    ColumnTypes,
    RawTable,
    find_file,
    holds_parquet,
    read_parquet,
    text_table,
)

WORKBOOK = "Online Retail.xlsx"
COLUMNS = {
    "InvoiceNo": "invoice_no",
    "StockCode": "item_id",
    "Description": "description",
    "Quantity": "quantity",
    "InvoiceDate": "invoice_date",
    "UnitPrice": "unit_price",
    "CustomerID": "user_id",
    "Country": "country",
}


def read(raw: Path, progress: Progress) -> Bundle:
    """The bundle of Online Retail."""
    progress("reading invoices", 0, 0)
    table, names = _parquet_tables(raw) if holds_parquet(raw) else _tables(raw)
    lines = table.collect()
    has_user = pl.col("user_id").is_not_null()
    is_sale = (pl.col("quantity") > 0) & (pl.col("unit_price") > 0)
    sales = lines.filter(has_user & is_sale).sort("invoice_date", maintain_order=True)
    firsts, notes = first_of_each_pair(sales)
    interactions = firsts.select(
        "user_id",
        "item_id",
        pl.lit(True).alias("is_positive"),
        pl.col("invoice_date").dt.epoch("s").alias("time"),
        "quantity",
        pl.col("unit_price").alias("price"),
        (pl.col("quantity") * pl.col("unit_price")).round(2).alias("amount"),
    )
    users = behaviour_deciles(interactions, amount="amount")
    countries = most_frequent("country", "user_id", lines.lazy())
    items = interactions.select(pl.col("item_id").unique().sort())
    return make_bundle(
        "online-retail",
        interactions,
        users.join(countries, on="user_id", how="left", maintain_order="left"),
        items.join(names, on="item_id", how="left", maintain_order="left"),
        files=("interactions.parquet", "items.parquet") if holds_parquet(raw) else (table.file,),
        positive="the first purchase of an item by a user",
        order="time of the invoice; lines of the same time in the order of the file",
        notes=(
            RULE,
            *counted("lines without a customer, dropped", lines.filter(~has_user).height),
            *counted(
                "lines without a positive quantity and price, dropped",
                lines.filter(has_user & ~is_sale).height,
            ),
            *notes,
        ),
    )


def _tables(raw: Path) -> tuple[RawTable, pl.DataFrame]:
    """Invoice lines, and the names of items."""
    table = _read_workbook(find_file("online-retail", raw, WORKBOOK))
    table.refuse_empty("StockCode")
    time = pl.col("InvoiceDate").str.to_datetime("%Y-%m-%d %H:%M:%S", strict=False)
    table.refuse(time.is_null(), "InvoiceDate", "is not a time such as 2010-12-01 08:26:00")
    table = replace(table, rows=table.rows.with_columns(time))
    table = table.whole_numbers("Quantity").decimals("UnitPrice")
    table = table.whole_numbers("CustomerID", may_be_empty=True).rename(COLUMNS)
    described = table.rows.with_columns(pl.col("description").str.strip_chars().alias("name"))
    return table, most_frequent("name", "item_id", described.filter(pl.col("name") != ""))


def _read_workbook(path: Path) -> RawTable:
    """The first sheet of the workbook, every cell as text like a line of CSV."""
    try:
        import fastexcel
    except ModuleNotFoundError as error:
        raise InputError(
            f"{path.name}: a workbook needs fastexcel: pip install 'fairrec[excel]'"
        ) from error
    try:
        sheet = pl.read_excel(path, infer_schema_length=0)
    except (fastexcel.FastExcelError, pl.exceptions.PolarsError) as error:
        reason = str(error).partition("\n")[0]
        raise InputError(
            f"{path.name}: cannot be read as a workbook ({reason}). Get the file again."
        ) from error
    return text_table(sheet, path, tuple(COLUMNS))


def _parquet_tables(raw: Path) -> tuple[RawTable, pl.DataFrame]:
    lines: ColumnTypes = {
        "user_id": pl.Int64,
        "item_id": pl.String,
        "quantity": pl.Int64,
        "unit_price": pl.Float64,
        "invoice_date": pl.Datetime("us"),
        "country": pl.String,
    }
    items = {"item_id": pl.String, "description": pl.String}
    names = read_parquet(raw, "items", items, may_be_null=("description",))
    names.refuse_repeated("item_id")
    return (
        read_parquet(raw, "interactions", lines, may_be_null=("user_id",)),
        names.rename({"description": "name"}).collect(),
    )


DATASETS.add(
    "online-retail",
    Dataset(
        title="Online Retail: purchases in a web shop",
        where="https://archive.ics.uci.edu/dataset/352/online+retail",
        licence="CC BY 4.0; name the author (Daqing Chen, 2015) and the UCI Machine Learning "
        "Repository, DOI 10.24432/C5BW33",
        files=("Online Retail.xlsx (needs fairrec[excel])",),
        attributes=ATTRIBUTES,
        n_groups="1,000 (10 x 10 x 10)",
        read=read,
    ),
)
