"""Run experiments and write what they found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fairrec.core.atomic_io import check_writable
from fairrec.core.errors import InputError, unknown_name
from fairrec.core.options import spell
from fairrec.core.progress import Progress
from fairrec.core.registry import Registry
from fairrec.report.page.vega import need_figures
from fairrec_paper.reproduction import (
    figures,
    gaps,
    trained_models,
)
from fairrec_paper.reproduction.data import TITLES, DataCatalogue
from fairrec_paper.reproduction.experiment import Experiment, Setting, TrialStore, run_trials
from fairrec_paper.reproduction.layout import Outcome, write_outcome
from fairrec_paper.reproduction.options import ReproduceOptions

EXPERIMENTS: Registry[Experiment] = Registry("experiment")

for _experiment in (
    trained_models.MODEL_QUALITY_EXPERIMENT,
    gaps.EFFECTIVENESS_EXPERIMENT,
    *(gaps.FIXED_TIME_EXPERIMENT, gaps.APPENDIX_EXPERIMENT),
    trained_models.MITIGATION_EXPERIMENT,
    gaps.ATTRIBUTES_EXPERIMENT,
    figures.INITIAL_POSITIONS_EXPERIMENT,
    figures.CORRELATION_EXPERIMENT,
    figures.VANILLA_SWARMS_EXPERIMENT,
    figures.EFFICIENCY_EXPERIMENT,
    figures.HYPER_PARAMETERS_EXPERIMENT,
):
    EXPERIMENTS.add(_experiment.name, _experiment)


@dataclass(frozen=True, slots=True)
class Reproduced:
    """What was done for an experiment.

    Parameters
    ----------
    title : with the data it was run on
    n_trials, n_worked : trials it is made of, and those that were worked out now
    """

    experiment: Experiment
    title: str
    outcome: Outcome
    folder: Path
    n_trials: int
    n_worked: int


def reproduce(
    names: Sequence[str],
    out: Path,
    data: Iterable[str] = (),
    datasets: Sequence[str] | None = None,
    runs: Path | None = None,
    options: ReproduceOptions | None = None,
    progress: Progress | None = None,
    command: str = "",
) -> list[Reproduced]:
    """Run experiments and write what they come to; what was finished before is taken from disk.

    Parameters
    ----------
    names : registered experiments
    out : each experiment has a folder there; beside them are trials, worlds and trained runs
    data : folders of bundles
    datasets : of the paper; by default those given, or all of them, as synthetic shapes, where none
        is
    runs : folder of trained runs, `DATASET-MODEL` each; `out/runs` by default
    command : kept in the outputs

    An experiment that has none of the data sets named is left out.
    """
    options = options or ReproduceOptions()
    progress = progress or (lambda stage, done, total: None)
    experiments = [EXPERIMENTS[name] for name in names]
    for name in datasets or ():
        if name not in TITLES:
            raise unknown_name("data set of the paper", name, TITLES)
    need_figures()
    check_writable(out)
    sources = DataCatalogue(data, out / "data", options)
    if options.quick and sources.given:
        raise InputError(
            f"{spell('quick', True)} makes small synthetic worlds of its own. Leave out "
            f"{spell('data')}."
        )
    store = TrialStore(out / "trials")
    wanted = (sources.given or TITLES) if datasets is None else datasets
    kept = [one for one in experiments if not one.datasets or {*one.datasets} & {*wanted}]
    if not kept:
        known = dict.fromkeys(name for one in experiments for name in one.datasets)
        raise InputError(
            f"{', '.join(names)} is of {', '.join(known)}. Name one of them in "
            f"{spell('datasets')}, or leave it out."
        )
    done = []
    for experiment in kept:
        used = [sources.get(name, progress) for name in experiment.datasets if name in wanted]
        setting = Setting(options, tuple(used), runs or out / "runs", out / "data", progress)
        trials = experiment.plan(setting)
        before = store.n_worked

        def stage(words: str, n_done: int, n: int, name: str = experiment.name) -> None:
            progress(f"{name}: {words}", n_done, n)

        frames = run_trials(trials, store, stage)
        progress(f"{experiment.name}: writing", 0, 0)
        outcome = experiment.outcome(setting, frames)
        title = f"{experiment.label}: {experiment.title}"
        title = f"{title}. {setting.title}" if used else f"{title}. {experiment.made_for}"
        folder = out / experiment.name
        write_outcome(folder, title, outcome, command)
        done.append(
            Reproduced(experiment, title, outcome, folder, len(trials), store.n_worked - before)
        )
    return done
