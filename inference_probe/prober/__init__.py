"""Own the prober: it asks an OpenAI-compatible endpoint by the clock, whatever the endpoint does, and says what came of it."""
