"""Own scrapes of a DCGM exporter."""
