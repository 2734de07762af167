"""In what two audits differ beside what they measured."""

from __future__ import annotations

from dataclasses import replace

import fairrec
from fairrec.comparison.compare import audit_differences
from tests.builders import make_tables
from tests.compared_audits import audited, users_table
from tests.end_to_end.command_line import write_tables

USERS = users_table()


def differing(base, candidate) -> dict[str, tuple[str, str]]:
    found = audit_differences(base, candidate)
    return {one.what: (one.base, one.candidate) for one in found}


def test_options_models_and_versions_are_told_where_they_differ():
    base = audited(USERS, model_name="als", model_version="1", tolerance=0.1)
    other = audited(
        USERS, by=["city"], depth=1, min_support=20, seed=0, model_name="als", model_version="2"
    )
    old = other.summary.model_copy(
        update={"fairrec_version": "0.0.9", "versions": {**other.summary.versions, "numpy": "1.0"}}
    )
    found = differing(base, replace(other, summary=old))
    assert found["model"] == ("als 1", "als 2")
    assert found["by"] == ("plan, city", "city")
    assert found["depth"] == ("3", "1")
    assert found["min_support"] == ("not given", "20.0")
    assert found["tolerance"] == ("0.1", "not given")
    assert found["FairRec"][1] == "0.0.9"
    assert found["numpy"][1] == "1.0"
    assert "checksum of users and attributes" in found
    assert "alpha" not in found and "users" not in found
    assert differing(base, base) == {}


def test_binning_and_values_of_attributes_are_told():
    ages = users_table(age=[*range(600)])
    found = differing(audited(ages, by=["age:q5"]), audited(ages, by=["age:q4"]))
    assert found["binning of age"] == ("5 quantiles", "4 quantiles")
    assert found["values of age"] == ("5", "4")


def test_tables_are_told_by_their_checksums(tmp_path, monkeypatch):
    audits = []
    for seed in (0, 1):
        folder = tmp_path / str(seed)
        folder.mkdir()
        monkeypatch.chdir(folder)
        write_tables(folder, make_tables(seed=seed)._replace(users=make_tables().users))
        options = {"by": "gender", "metrics": "mrr", "permutations": 9}
        audits.append(fairrec.audit("predictions.parquet", users="users.parquet", **options))
    found = differing(*audits)
    sums = [audit.summary.inputs["predictions"].sha256[:12] for audit in audits]
    assert found["checksum of predictions"] == tuple(sums)
    assert "checksum of users" not in found
