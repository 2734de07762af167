"""All experiments, in the order of the paper, and then what it does not have."""

from __future__ import annotations

from fairrec.core.registry import Registry
from fairrec_paper.reproduction.experiment import Experiment
from fairrec_paper.reproduction.experiments import (
    figure2_initial_positions,
    figure3_correlation,
    figure4_vanilla_swarms,
    figure5_efficiency,
    figure6_hyper_parameters,
    next_worst,
    sensitivity,
    table1_model_quality,
    table2_effectiveness,
    table5_attributes,
    tables3_7_fixed_time,
    tables4_6_mitigation,
    trainings,
)

EXPERIMENTS: Registry[Experiment] = Registry("experiment")

for _experiment in (
    table1_model_quality.EXPERIMENT,
    table2_effectiveness.EXPERIMENT,
    tables3_7_fixed_time.EXPERIMENT,
    tables3_7_fixed_time.APPENDIX,
    tables4_6_mitigation.EXPERIMENT,
    table5_attributes.EXPERIMENT,
    figure2_initial_positions.EXPERIMENT,
    figure3_correlation.EXPERIMENT,
    figure4_vanilla_swarms.EXPERIMENT,
    figure5_efficiency.EXPERIMENT,
    figure6_hyper_parameters.EXPERIMENT,
    trainings.EXPERIMENT,
    sensitivity.EXPERIMENT,
    next_worst.EXPERIMENT,
):
    EXPERIMENTS.add(_experiment.name, _experiment)
