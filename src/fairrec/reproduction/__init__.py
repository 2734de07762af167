"""The experiments of the FairRec paper, from data to tables and figures."""

from fairrec.reproduction.experiments import EXPERIMENTS

__all__ = ["EXPERIMENTS"]
