from __future__ import annotations

from fairrec.auditing.call_repr import audit_call, said_of_scores, said_of_tables
from fairrec.core.audit_options import AboutOptions, AuditOptions
from fairrec.inputs.table_options import TableOptions
from fairrec.search.options import SearchOptions


def test_everything_that_changes_a_number_is_told():
    options = AuditOptions.of(depth=2, tolerance="5%", threads=1)
    said = audit_call(["predictions"], options, AboutOptions(title="Spring"), ["search='random'"])
    assert said.startswith("fairrec.audit(predictions, depth=2, ")
    assert "tolerance='5%', search='random', title='Spring')" in said
    assert "threads" not in said


def test_tables_go_by_their_names_and_all_that_is_made_of_them_is_told():
    tables = TableOptions.of(
        **{"test": "t.csv", "users": "u.csv", "by": "age:10", "given": "n"},
        **{"relevant": "rating>=4", "gain": "rating", "columns": "a=b"},
    )
    assert said_of_tables(tables, ["auc"]) == [
        *("predictions", "test=test", "users=users", "by=['age:10']", "given=['n']"),
        *("metrics=['auc']", "columns={'a': 'b'}", "relevant='rating>=4'", "gain='rating'"),
    ]
    values = TableOptions.of(values="v.csv", by="age", better="churn=lower", missing_lists="drop")
    assert said_of_tables(values, ["churn"]) == [
        *("values=values", "by=['age']", "metrics=['churn']", "missing_lists='drop'"),
        "better={'churn': 'lower'}",
    ]


def test_who_gives_the_scores_is_told():
    assert said_of_scores(None, None) == []
    (search, scorer) = said_of_scores(SearchOptions("adaptive", ledger="a.parquet"), len)
    assert search.startswith("search=SearchOptions(name='adaptive'")
    assert scorer == "scorer=scorer"
