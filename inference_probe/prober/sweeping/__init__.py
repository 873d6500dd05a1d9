"""Own sweeps: the load goes up stage by stage until objectives break, and where more load brings no more work."""
