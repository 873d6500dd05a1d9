"""Own how probes are reconciled: what every source says of them is laid side by side, kept, and told."""
