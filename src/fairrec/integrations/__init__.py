"""Results in other tools: model cards and MLflow."""
