"""Own the simulated month and the live demonstration."""
