"""The bundled vLLM probe (later issues)."""
