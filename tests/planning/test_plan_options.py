from __future__ import annotations

from pathlib import Path

import pytest

from fairrec.auditing.options import SETTINGS, PlanOptions
from fairrec.core.errors import InputError
from tests.grouped_options import on_command_line

SAMPLES = {
    "by": (["gender", "age:10"], "member", ["town, county"]),
    "metrics": (["ndcg@10", "auc"], "mrr"),
    "relevant": ("rating>=4", "clicks == 0.25"),
    "gain": ("rating",),
    "missing_lists": ("zero", "drop"),
    "better": ({"churn": "lower", "watch": "higher"}, "churn=higher"),
    "columns": ({"user_id": "uid", "items.categories": "tags"}, "label=y"),
    "depth": (2, "full", "3"),
    "min_support": ("1%", 50, 0.001),
    "permutations": (0, "1000"),
    "alpha": (0.05, "0.001"),
    "max_undefined": ("5%", 1, 0),
    "tolerance": ("5%", 0.03, "ndcg@5=0.03,5%", {"ndcg@5": 0.03, "auc": "5%"}, ["auc=1%", "2%"]),
    "seed": (0, 2**32 - 1),
    "threads": (1,),
    "top": (1, 1000),
    "title": ("Spring <audit>",),
    "model_name": ("ranker",),
    "model_version": ("2.1", ""),
    "mean": (0.3, -7),
    "sd": (0.35, 1e-30),
}
"""Values of options, in the forms of a settings file."""


def value_of(name: str, given: object) -> object:
    """As it is read from a settings file."""
    is_joined = isinstance(given, list) and name == "tolerance"
    return SETTINGS[name].parse(name, ",".join(given) if is_joined else given)


@pytest.mark.parametrize("name", SAMPLES)
def test_what_is_written_of_an_option_is_read_back_as_the_same(name):
    option = SETTINGS[name]
    for given in SAMPLES[name]:
        value = value_of(name, given)
        assert option.parse(name, option.form.to_data(value)) == value


def test_a_pilot_and_numbers_in_its_stead_exclude_each_other():
    assert PlanOptions(pilot="a.csv").pilot == Path("a.csv")
    assert PlanOptions(mean="0.3", sd=1) == PlanOptions(mean=0.3, sd=1.0)
    with pytest.raises(InputError, match=r"^pilot has mean and standard deviation of its own"):
        PlanOptions(pilot="a.csv", sd=1)
    said = r"^--pilot has .* Leave out --mean, or the pilot"
    with pytest.raises(InputError, match=said), on_command_line():
        PlanOptions(pilot="a.csv", mean=1)
    with (
        pytest.raises(InputError, match=r"^--mean needs .* too: --sd NUMBER$"),
        on_command_line(),
    ):
        PlanOptions(mean=1)
    for sd in (0, -1, "much", 1e51):
        with pytest.raises(InputError, match=r"^invalid sd: expected a number above 0"):
            PlanOptions(sd=sd)
