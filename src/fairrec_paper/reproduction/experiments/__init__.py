"""The paper's experiments, one file for each table or figure, or for two that are one."""
