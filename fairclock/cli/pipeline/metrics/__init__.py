"""Own what Prometheus is told of the store: worked out aside, from the same rows, slices and entries as everything else."""
