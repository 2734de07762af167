"""Ranked lists -> one value per user."""

from fairrec.metrics import accuracy, beyond_accuracy, item_metrics, list_change
from fairrec.metrics.parsing import MetricAtK, parse_metric
from fairrec.metrics.registry import ITEM_METRICS, METRICS, Metric, metric

__all__ = [
    "ITEM_METRICS",
    "METRICS",
    "Metric",
    "MetricAtK",
    "accuracy",
    "beyond_accuracy",
    "item_metrics",
    "list_change",
    "metric",
    "parse_metric",
]
