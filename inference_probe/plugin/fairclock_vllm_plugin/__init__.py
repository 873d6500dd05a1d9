"""Own what a vLLM says about its requests to Fairclock, from inside vLLM.

vLLM loads `stat_logger.FairclockStatLogger` through the entry-point group ``vllm.stat_logger_plugins``. Nothing here is
imported by Fairclock, and nothing here imports Fairclock: vLLM's environment gets this package and no other.
"""

VERSION = "0.1.0"
"""The same as in ``pyproject.toml``; a test holds it."""
