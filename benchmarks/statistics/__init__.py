"""What the statistics hold: rates over many worlds, each against what is claimed."""

from benchmarks.statistics.run import run

__all__ = ["run"]
