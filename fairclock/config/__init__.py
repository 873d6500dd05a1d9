"""Own the configuration file."""
