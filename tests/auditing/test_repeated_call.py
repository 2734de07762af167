from __future__ import annotations

from fairrec import Engine
from fairrec.auditing.call_repr import audit_call, said_of_scores, said_of_tables
from fairrec.core.audit_options import About, AuditOptions
from fairrec.inputs.table_options import TableOptions
from fairrec.search.options import Search


def test_everything_that_changes_a_number_is_told():
    options = AuditOptions(depth=2, tolerance="5%", engine=Engine(threads=1))
    said = audit_call(["predictions"], options, About(title="Spring"), ["search='random'"])
    assert said.startswith("fairrec.audit(predictions, depth=2, ")
    assert "tolerance='5%', seed=0, statistics=fairrec.Statistics(permutations=1000, " in said
    assert said.endswith("top=1), search='random', about=fairrec.About(title='Spring'))")
    assert "threads" not in said


def test_tables_go_by_their_names_and_all_that_is_made_of_them_is_told():
    tables = TableOptions(
        **{"test": "t.csv", "users": "u.csv", "by": "age:10", "adjust_for": "n"},
        **{"relevant": "rating>=4", "gain": "rating", "columns": "a=b"},
    )
    assert said_of_tables(tables, ["auc"]) == [
        *("predictions", "test=test", "users=users", "by=['age:10']", "adjust_for=['n']"),
        "metrics=['auc']",
        "tables=fairrec.Tables(relevant='rating>=4', gain='rating', columns={'a': 'b'})",
    ]
    values = TableOptions(values="v.csv", by="age", better="churn=lower", missing_lists="drop")
    assert said_of_tables(values, ["churn"]) == [
        *("values=values", "by=['age']", "metrics=['churn']"),
        "tables=fairrec.Tables(missing_lists='drop', better={'churn': 'lower'})",
    ]


def test_who_gives_the_scores_is_told():
    assert said_of_scores(None, None) == []
    (search, scorer) = said_of_scores(Search("adaptive", ledger="a.parquet"), len)
    assert search.startswith("search=fairrec.Search(name='adaptive'")
    assert scorer == "scorer=scorer"
