"""The live demonstration as `make live` runs it: with a model and a vLLM of its own, and no plugin in that."""

from datetime import UTC, datetime

import pytest

from fairclock.demo.live.run import FEWEST_REQUESTS, run_live

pytestmark = [pytest.mark.integration, pytest.mark.soak]


def test_it_starts_a_vllm_of_its_own_and_finds_what_that_finished(tmp_path):
    found = run_live(out=tmp_path / "out", requests=FEWEST_REQUESTS, now=datetime.now(UTC)).comparison
    assert found.logged == found.sent == FEWEST_REQUESTS
    assert found.joined == found.engine_finished > 0
    assert (found.unmatched, found.wrong_joins) == ((), ())
