"""Ranked lists -> one value per user."""

from fairrec.metrics import (
    accuracy,
    calibration,
    coverage,
    diversity,
    list_change,
    popularity,
    shown_items,
)
from fairrec.metrics.registry import METRICS, Metric, MetricAtK, metric, parse_metric

__all__ = [
    "METRICS",
    "Metric",
    "MetricAtK",
    "accuracy",
    "calibration",
    "coverage",
    "diversity",
    "list_change",
    "metric",
    "parse_metric",
    "popularity",
    "shown_items",
]
