"""All experiments, in the order of the paper, and then what it does not have."""

from __future__ import annotations

from fairrec.core.registry import Registry
from fairrec_paper.reproduction.experiment import Experiment
from fairrec_paper.reproduction.figures_2_to_4 import (
    CORRELATION_EXPERIMENT,
    INITIAL_POSITIONS_EXPERIMENT,
    VANILLA_SWARMS_EXPERIMENT,
)
from fairrec_paper.reproduction.figures_5_and_6 import (
    EFFICIENCY_EXPERIMENT,
    HYPER_PARAMETERS_EXPERIMENT,
)
from fairrec_paper.reproduction.fixed_time import APPENDIX, EXPERIMENT
from fairrec_paper.reproduction.gaps import (
    ATTRIBUTES_EXPERIMENT,
    EFFECTIVENESS_EXPERIMENT,
    SENSITIVITY_EXPERIMENT,
)
from fairrec_paper.reproduction.mitigations import MITIGATION_EXPERIMENT, NEXT_WORST_EXPERIMENT
from fairrec_paper.reproduction.trained_models import MODEL_QUALITY_EXPERIMENT, TRAININGS_EXPERIMENT

EXPERIMENTS: Registry[Experiment] = Registry("experiment")

for _experiment in (
    MODEL_QUALITY_EXPERIMENT,
    EFFECTIVENESS_EXPERIMENT,
    EXPERIMENT,
    APPENDIX,
    MITIGATION_EXPERIMENT,
    ATTRIBUTES_EXPERIMENT,
    INITIAL_POSITIONS_EXPERIMENT,
    CORRELATION_EXPERIMENT,
    VANILLA_SWARMS_EXPERIMENT,
    EFFICIENCY_EXPERIMENT,
    HYPER_PARAMETERS_EXPERIMENT,
    TRAININGS_EXPERIMENT,
    SENSITIVITY_EXPERIMENT,
    NEXT_WORST_EXPERIMENT,
):
    EXPERIMENTS.add(_experiment.name, _experiment)
