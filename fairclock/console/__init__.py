"""Own the console (later issues)."""
