"""Own the live demonstration: real nginx, real vLLM, real spans, and a client with its own stopwatch."""
