"""Own vLLM's statistics: what ``/metrics`` says, under one vocabulary, as lines for the store."""
