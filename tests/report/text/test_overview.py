"""The answer of an audit, in worlds made by hand."""

from __future__ import annotations

import re

import numpy as np
import polars as pl

import fairrec
from fairrec.report.text.findings import carried_by
from fairrec.report.text.overview import overview
from fairrec.report.text.view import build_view
from fairrec.report.words import number, signed
from fairrec.search.options import SearchOptions
from tests.counts.small_counts import tables
from tests.report.text.planted_report import audit_of, given_result, planted_result


def answer_of(result):
    return build_view(result.summary).overview


def test_the_headline_is_who_and_how_much():
    found = answer_of(planted_result())
    finding = planted_result().metrics["auc"].findings[0]
    others = number(finding.value - finding.difference)
    assert found.tone == "found"
    assert found.headline == (
        "gender=F, age=65+ is served worse: ranking quality "
        f"{number(finding.value)} instead of {others}"
    )
    assert found.detail.startswith("61 of 2,000 users (3")
    assert "auc" in found.detail and "not chance (p " in found.detail
    # of every metric, not of that of the headline alone
    assert re.findall(r"[\d.]+ in (\S+)", found.ruled_out) == ["auc", "mrr@5"]


def test_a_group_is_told_once_with_all_its_metrics():
    found = answer_of(audit_of({"a": 0.1, "b": 0.2, "c": 0.1}))
    (line,) = found.lines
    assert line.label == "gender=F, age=old"
    # the larger effect first, and that without a better end last
    assert [(mark.metric, mark.served) for mark in line.marks] == [
        ("b", "worse"),
        ("a", "worse"),
        ("c", "differs"),
    ]
    assert line.metric == "b"
    assert found.who == ("1 group worse", "0 better")
    assert "finding in 3 of 3 metrics" in found.how_much


def test_where_all_differ_only_for_the_better_nobody_is_called_worse():
    result = audit_of({"c": 0.2})
    found = answer_of(result)
    assert found.headline.startswith("gender=F, age=old is different: c 0.")
    assert found.who == ("1 group differing, no end is better",)
    assert "worse" not in found.headline + " ".join(found.who)


def test_a_metric_without_a_better_end_changes_neither_tone_nor_answer_of_the_others():
    found = answer_of(audit_of({"a": 0.0, "c": 0.2}, tolerance="a=0.05,c=0.05"))
    assert found.tone == "clear"
    assert found.headline.startswith(
        "No group is shown to be worse off; gender=F, age=old is different: c 0."
    )
    alone = answer_of(audit_of({"c": 0.0}, tolerance="c=0.05"))
    assert alone.tone == "clear"
    assert alone.headline.startswith("No group of a single attribute differs by more than matters")


def test_nothing_found_is_no_all_clear():
    found = answer_of(audit_of({"a": 0.0}))
    assert found.tone == "open"
    assert found.headline == "No group of 8 stood out; that is no all-clear"
    assert found.detail.startswith("A harm of 0.0") and "4 times in 5" in found.detail
    assert found.lines == () and found.how_much == ()
    assert found.ruled_out.startswith("None of the 8 groups of ")


def test_what_is_ruled_out_is_the_all_clear():
    found = answer_of(audit_of({"a": 0.0}, tolerance="0.08"))
    assert found.tone == "clear"
    assert found.headline.startswith("No group of a single attribute is worse by more than matters")


def test_one_open_metric_is_enough_to_withhold_it():
    found = answer_of(audit_of({"a": 0.0, "b": 0.0}, tolerance="a=0.08"))
    assert found.tone == "open"


def test_without_a_test_there_is_no_answer():
    found = answer_of(audit_of({"a": 0.3}, permutations=0))
    assert (found.tone, found.headline) == ("open", "Nothing was tested against chance")


def test_too_few_permutations_are_the_reason_that_nothing_was_tested():
    least = "permutations=19 or more can (1/alpha - 1)"
    for n, said in ((0, "0 permutations"), (1, "1 permutation"), (10, "10 permutations")):
        found = answer_of(audit_of({"a": 0.3}, permutations=n))
        assert found.headline == "Nothing was tested against chance"
        assert found.detail == f"{said} cannot give a p-value of 0.05: {least}"
    enough = answer_of(audit_of({"a": 0.3}, permutations=19))
    assert enough.headline != "Nothing was tested against chance"


def test_the_same_for_everyone_says_so():
    users = pl.DataFrame({"user_id": range(100), "g": [*"ab"] * 50, "m": [1.0] * 100})
    result = fairrec.audit(values=users, by="g", better="m=higher", permutations=99)
    found = answer_of(result)
    assert found.headline == "Everyone has the same value, so groups cannot differ"
    assert found.tone == "open"


def test_users_without_a_value_withhold_the_answer():
    rng = np.random.default_rng(1)
    value = pl.Series(rng.random(400)).set(pl.Series(rng.random(400) < 0.3), None)
    users = pl.DataFrame({"user_id": range(400), "g": [*"ab"] * 200}).with_columns(m=value)
    found = answer_of(fairrec.audit(values=users, by="g", better="m=higher", permutations=99))
    assert found.headline.startswith("Inconclusive: ")
    assert found.tone == "open"


def test_what_to_do_next_fits_what_was_found():
    assert "look at what these users got" in answer_of(audit_of({"a": 0.2})).next_steps
    planted = answer_of(planted_result())
    command = "re-rank their lists: fairrec mitigate AUDIT --metric auc"
    assert f"{command} --history FILE" in planted.next_steps
    with_history = planted_result().summary
    with_history.inputs["history"] = with_history.inputs["users"]
    steps = overview(with_history, build_view(with_history).verdicts).next_steps
    assert command in steps
    counted = answer_of(fairrec.audit(counts=fairrec.count(**tables()), permutations=199))
    assert "look at what these users got" in counted.next_steps
    none = answer_of(audit_of({"a": 0.0})).next_steps
    assert any("fairrec plan" in step for step in none)
    certain = answer_of(audit_of({"a": 0.0}, tolerance="0.5")).next_steps
    assert certain == ("write a policy for the next release: fairrec init AUDIT",)
    said = answer_of(audit_of({"a": 0.2}, tolerance="0.05")).next_steps
    assert not any("tolerance" in step for step in said)


def test_an_audit_that_is_not_saved_is_saved_before_a_command_reads_it():
    summary = planted_result().summary
    steps = build_view(summary, is_saved=False).overview.next_steps
    assert steps[0] == "save this audit, which the next command reads: out='AUDIT'"
    assert steps[1:] == build_view(summary).overview.next_steps
    alone = audit_of({"a": 0.2}).summary
    assert build_view(alone, is_saved=False).overview == build_view(alone).overview


def test_a_list_too_long_for_the_first_screen_is_counted():
    rng = np.random.default_rng(2)
    group = rng.integers(0, 40, 8000)
    value = rng.normal(size=8000) + np.where(group < 15, -2.0, 0.0)
    users = pl.DataFrame({"user_id": range(8000), "g": group.astype(str), "m": value})
    result = fairrec.audit(values=users, by="g", better="m=higher", permutations=99)
    view = build_view(result.summary)
    found = overview(result.summary, view.verdicts)
    assert found.headline.startswith("15 groups are served worse, most clearly g=")
    assert (len(found.lines), found.n_more) == (10, 5)


def test_in_given_circumstances_the_headline_has_the_adjusted_difference():
    result = given_result()
    finding = result.metrics["q"].findings[0]
    # as it is the group is served better
    assert finding.group == {"gender": "M", "place": "north"}
    assert finding.difference < 0 < finding.raw_difference
    found = answer_of(result)
    assert found.headline == (
        "gender=M, place=north is served worse: q "
        f"{number(-finding.difference)} lower than that of others with the same tenure"
    )
    assert found.detail.endswith("whatever the circumstances")
    adjusted, as_it_is = signed(finding.difference), signed(finding.raw_difference)
    assert f"shrunken; {adjusted} adjusted, {as_it_is} as it is" in found.how_much


def test_in_given_circumstances_raw_neighbours_carry_nothing():
    result = given_result()
    said, distances = carried_by(result.metrics["q"].findings[0], result.summary)
    assert said.startswith("Whether it is the combination was not looked at")
    assert distances.startswith("Whatever these are: compared with")


def test_where_users_are_missing_the_next_step_is_to_find_out_why():
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"user_id": range(500), "gender": rng.choice(["F", "M"], 500)})
    table = table.with_columns(q=pl.Series([None, 1.0, 2.0, 3.0, 4.0] * 100))
    result = fairrec.audit(values=table, by="gender", better="q=higher", permutations=99)
    found = answer_of(result)
    assert found.headline.startswith("Inconclusive: ")
    assert found.next_steps[0] == "find out who is missing, and why"


def test_more_findings_than_are_listed_are_not_said_to_be_all(monkeypatch):
    for module in ("fairrec.statistics.findings", "fairrec.report.text.verdict"):
        monkeypatch.setattr(f"{module}.MAX_FINDINGS", 50)
    rng = np.random.default_rng(0)
    city = np.arange(20000) % 200
    q = rng.normal(0, 0.3, 200)[city] + rng.normal(0, 0.05, 20000)
    table = pl.DataFrame({"user_id": range(20000), "city": [f"C{at}" for at in city], "q": q})
    result = fairrec.audit(values=table, by="city", better="q=higher", permutations=199)
    verdict, findings = result.metrics["q"].verdict, result.metrics["q"].findings
    assert verdict.n_worse + verdict.n_better > len(findings) == 50
    found = answer_of(result)
    n_worse = sum(finding.difference < 0 for finding in findings)
    assert found.headline.startswith(f"At least {n_worse} groups are served worse")
    assert found.who[0] == f"at least {n_worse} groups worse"
    (said,) = build_view(result.summary).verdicts
    # cities do not overlap
    assert "or are beyond the 50 findings listed" in said.headline


def test_after_a_search_the_others_are_said_to_be_an_estimate():
    search = SearchOptions("adaptive", budget_users="30%")
    result = planted_result(search=search)
    n_drawn = result.metrics["auc"].n_compared
    assert n_drawn < 2000
    found = answer_of(result)
    assert found.detail.endswith(f"all others estimated from {n_drawn:,} users drawn at random")
    assert "estimated" not in answer_of(planted_result()).detail


def test_a_search_of_a_table_with_every_score_is_told_how_to_get_the_exact_answer():
    result = planted_result(search=SearchOptions("adaptive", budget_users="30%"))
    exact = "the table has every score: leave out search and its budget for the exact answer"
    found = answer_of(result)
    assert found.next_steps[0] == exact
    assert not any("raise budget_users" in step for step in found.next_steps)
    assert "The table has every score: " in " ".join(build_view(result.summary).search)
    # a model that is asked may be asked for more
    search = result.summary.search.model_copy(update={"has_table": False})
    asked = result.summary.model_copy(update={"search": search})
    assert exact not in overview(asked, build_view(asked).verdicts).next_steps
    # nothing is left to be scored
    everyone = planted_result(search=SearchOptions("exact"))
    assert exact not in answer_of(everyone).next_steps


def test_what_would_have_been_seen_is_said_of_a_size_that_groups_have():
    rng = np.random.default_rng(2)
    table = pl.DataFrame({"user_id": range(4000), "g": [*"ab"] * 2000, "m": rng.normal(size=4000)})
    result = fairrec.audit(values=table, by="g", better="m=higher", permutations=199)
    assert [at.support for at in result.metrics["m"].detectable] == [10, 100, 1000]
    assert "in a group of 1,000 users would have been seen" in answer_of(result).detail


def test_who_is_worse_off_only_beside_a_group_served_better_is_told_with_it():
    rng = np.random.default_rng(3)
    gender, tier = rng.choice(["F", "M"], 4000), rng.choice(["free", "paid"], 4000)
    q = rng.normal(size=4000) + 0.8 * ((gender == "M") & (tier == "paid"))
    table = pl.DataFrame({"user_id": range(4000), "gender": gender, "tier": tier, "q": q})
    result = fairrec.audit(values=table, by="gender,tier", better="q=higher", permutations=199)
    found = answer_of(result)
    assert "is served worse" in found.headline
    assert found.detail.endswith(
        "they would not stand out without gender=M, tier=paid, served better than they are"
    )


def test_of_several_values_the_headline_names_the_one_that_is_there():
    """Items without a genre are all others of those with it, and nobody looks for them."""
    genres = ["war" if item < 30 else "war|love" if item < 40 else "love" for item in range(120)]
    items = pl.DataFrame({"item_id": range(120), "genres": genres})
    lists = [[*range(u % 40, u % 40 + 3), 40 + u % 80] for u in range(400)]
    recommended = pl.DataFrame({"user_id": range(400), "item_id": lists})
    given = {"side": "items", "by": "genres:each", "permutations": 199, "depth": 1}
    result = fairrec.audit(recommended, items=items, **given)
    worst = result.metrics["exposure@4"].findings[0]
    assert worst.group == {"genres[war]": "no"}
    found = overview(result.summary, build_view(result.summary).verdicts)
    assert found.named == "genres[war]=yes"
    assert "genres[war]=yes is exposed more: attention" in found.headline
    value = worst.value - worst.difference
    assert f"attention {number(value)} instead of" in found.headline
    assert found.detail.startswith("40 of 120 items (33%)")
    # what is said beside it is said of the group that was found
    assert found.how_much[0] == "genres[war]=no:"


def test_of_several_groups_those_who_have_a_value_come_before_those_who_lack_one():
    rng = np.random.default_rng(1)
    kinds = np.array(["war", "love", "news", "rare"])
    of_item = np.arange(400) % 4
    odds = np.array([6.0, 2.0, 2.0, 0.2])[of_item]
    picked = [rng.choice(400, 5, False, p=odds / odds.sum()).tolist() for _ in range(600)]
    recommended = pl.DataFrame({"user_id": range(600), "item_id": picked})
    items = pl.DataFrame({"item_id": range(400), "kind": [f"{k}|x" for k in kinds[of_item]]})
    given = {"side": "items", "by": "kind:each", "permutations": 199, "depth": 1}
    found = answer_of(fairrec.audit(recommended, items=items, **given))
    assert found.headline.startswith("kind[rare]=yes is exposed less: attention")
    # those who lack a value are all others of the few who have it, who are named
    assert [line.label for line in found.lines] == ["kind[rare]=yes", "kind[war]=yes"]
