"""Command lines: parameters from declared options, printing, exit codes."""
