"""What the live demonstration found in the one life of vLLM that it shares with the probes."""

import pytest


@pytest.fixture(scope="session")
def result(engine_life):
    return engine_life.result
