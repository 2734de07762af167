"""The experiments of the FairRec paper, from data to tables and figures."""

from fairrec.reproduction import (
    attributes,
    correlation,
    effectiveness,
    efficiency,
    fixed_time,
    hyper_parameters,
    initialise,
    mitigation,
    model_quality,
    vanilla,
)
from fairrec.reproduction.experiment import EXPERIMENTS

__all__ = ["EXPERIMENTS"]

# in the order of the paper
for _experiment in (
    model_quality.EXPERIMENT,
    effectiveness.EXPERIMENT,
    fixed_time.EXPERIMENT,
    fixed_time.APPENDIX,
    mitigation.EXPERIMENT,
    attributes.EXPERIMENT,
    initialise.EXPERIMENT,
    correlation.EXPERIMENT,
    vanilla.EXPERIMENT,
    efficiency.EXPERIMENT,
    hyper_parameters.EXPERIMENT,
):
    EXPERIMENTS.add(_experiment.name, _experiment)
