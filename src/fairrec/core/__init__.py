"""What every stage may use: arrays, errors, files, options, registry, threads."""
