"""Table 2: what each method finds in each metric, how near that is to the exact gap, its cost."""

from __future__ import annotations

from fairrec_paper.reproduction.claims import claims_table
from fairrec_paper.reproduction.comparison import check_enumeration, compared_gaps, costs
from fairrec_paper.reproduction.data_source import TITLES
from fairrec_paper.reproduction.experiment import Experiment, Frames, Setting
from fairrec_paper.reproduction.gap_tables import cost_table, gap_table, paper_table
from fairrec_paper.reproduction.methods import (
    ADAPTIVE,
    ADAPTIVE_TENTH,
    DPSO,
    EXACT,
    FAIRAS,
    FAIRAS_TEN,
    THEMIS,
    THETAS,
    ByDataset,
    large_groups,
    method_trials,
)
from fairrec_paper.reproduction.outcome import Outcome, OutcomeTable
from fairrec_paper.reproduction.trials.trial import Trial

NOTES = (
    "Seconds are of the whole test of all metrics (scoring, metrics, search) on this machine. "
    "Themis here asks the model for one group after the other, but once for all metrics; the "
    "published times are of an implementation that queries a data frame for every combination.",
    "The paper's auc is of the pooled rows of a group, here pooled_auc. It is no mean over users, "
    "so only what enumerates groups can report it; a search looks for auc, the mean of the users' "
    "own.",
    "Published NDCG is multiplied by 2.9485: the paper divides by the gain of five relevant items, "
    "though each user has one target.",
)


def _methods(setting: Setting) -> ByDataset:
    return {
        source.name: [
            THEMIS,
            *(large_groups(theta) for theta in THETAS[source.name]),
            DPSO,
            FAIRAS,
            *((FAIRAS_TEN,) if source.name == "lfm360k" else ()),
            EXACT,
            ADAPTIVE,
            ADAPTIVE_TENTH,
        ]
        for source in setting.sources
    }


def plan(setting: Setting) -> list[Trial]:
    """All searches and all null distributions."""
    return method_trials(setting, _methods(setting))


def outcome(setting: Setting, frames: Frames) -> Outcome:
    """The paper's claims, gaps and costs."""
    search, chance = frames["search"], frames["chance"]
    largest = check_enumeration(search, THEMIS.title, EXACT.title)
    tables: list[OutcomeTable] = []
    claims = []
    for dataset, methods in _methods(setting).items():
        own_search, own_chance = search.filter(dataset=dataset), chance.filter(dataset=dataset)
        gaps = compared_gaps(own_search, own_chance, methods, "table2")
        spent = costs(own_search, gaps, methods)
        where = setting.title_of(dataset)
        tables.append(gap_table(f"gaps-{dataset}", f"Gaps: {where}", gaps, own_chance, methods))
        tables.append(paper_table(f"paper-{dataset}", f"As in the paper: {where}", gaps, spent))
        tables.append(cost_table(f"costs-{dataset}", f"Accuracy and cost: {where}", spent))
        claims.append((dataset, gaps, spent))
    first = claims_table(setting, claims)
    agree = f"Themis and one pass over everyone agree to {largest:.1g} in every cell."
    return Outcome((first, *tables), (), (agree, *NOTES))


EXPERIMENT = Experiment(
    name="table2",
    label="Table 2",
    title="Effectiveness and time of the methods",
    datasets=tuple(TITLES),
    plan=plan,
    outcome=outcome,
)
