"""Own the names and columns of the store's tables."""
