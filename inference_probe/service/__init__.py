"""Own the bundled service: a real vLLM behind an OpenAI-compatible API whose every answer carries its own truth.

It runs under vLLM's Python, which knows nothing of Fairclock: nothing here imports more than the standard library, vLLM
and what vLLM brings.
"""
