"""The paper's experiments, one file for each table or figure."""

from fairrec.reproduction.experiment import EXPERIMENTS
from fairrec.reproduction.experiments import (
    figure2_initial_positions,
    figure3_correlation,
    figure4_plain_swarms,
    figure5_efficiency,
    figure6_hyper_parameters,
    table1_model_quality,
    table2_effectiveness,
    table3_fixed_time,
    table4_mitigation,
    table5_attributes,
)

__all__ = ["EXPERIMENTS"]

# in the order of the paper
for _experiment in (
    table1_model_quality.EXPERIMENT,
    table2_effectiveness.EXPERIMENT,
    table3_fixed_time.EXPERIMENT,
    table3_fixed_time.APPENDIX,
    table4_mitigation.EXPERIMENT,
    table5_attributes.EXPERIMENT,
    figure2_initial_positions.EXPERIMENT,
    figure3_correlation.EXPERIMENT,
    figure4_plain_swarms.EXPERIMENT,
    figure5_efficiency.EXPERIMENT,
    figure6_hyper_parameters.EXPERIMENT,
):
    EXPERIMENTS.add(_experiment.name, _experiment)
