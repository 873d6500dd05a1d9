"""Gateway logs: files in, canonical lines out."""
