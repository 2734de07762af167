"""What every stage may use: arrays, errors, files, options, progress, registry, threads."""
