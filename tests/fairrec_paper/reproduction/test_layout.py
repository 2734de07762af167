from __future__ import annotations

import polars as pl

from fairrec_paper.reproduction import layout

ROWS = pl.DataFrame({"model": ["dcn", "fgcnn"], "share": [0.25, None], "n": [1200, None]})


def test_a_table_has_the_numbers_and_the_text():
    columns = [
        ("model", layout.model_title),
        ("share", layout.percent("share")),
        ("n", layout.count("n")),
        ("p", layout.p_value("share")),
        ("fixed", layout.fixed("share", 3)),
    ]
    table = layout.table("name", "Title", ROWS, columns, "a note")
    assert table.data is ROWS
    assert table.view.columns == ("model", "share", "n", "p", "fixed")
    assert table.view.numeric == (False, True, True, True, True)
    assert table.view.rows[0] == ("DCN", "25.0%", "1,200", "0.250", "0.250")
    assert table.view.rows[1] == ("FGCNN", "-", "-", "-", "-")
    more = pl.DataFrame({"all": [1]})
    assert layout.table("name", "Title", ROWS, columns, data=more).data is more


def test_a_spread_is_shown_where_there_is_one():
    shown = layout.percent_spread("mean")
    assert shown({"mean": 0.5, "mean_sd": 0.021}) == "50.0% \u00b12.1"
    assert (
        shown({"mean": 0.5, "mean_sd": 1e-17}) == shown({"mean": 0.5, "mean_sd": None}) == "50.0%"
    )
    assert shown({"mean": None, "mean_sd": None}) == "-"
