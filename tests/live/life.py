"""The one life of a real vLLM with two places that several modules look at: its start costs more than all that is asked of it.

It is served by the probe service, which is vLLM's own server and says with every answer what happened inside. It is asked 300
probes first, and then what the live demonstration asks; each has a store of its own. The demonstration hears its last words.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import inference_probe
from collectors.otlp.committing import FORMAT
from collectors.otlp.engine_states import STATE_FORMAT, state_batches
from collectors.otlp.receiver import OtlpReceiver
from exporters.clickhouse import DirectDelivery, lines_of
from fairclock.demo.live.engine import make_model, running_engine
from fairclock.demo.live.programs import find_vllm_python, free_port
from fairclock.demo.live.run import OtherEngine, run_live
from fairclock.store import Query, open_store
from inference_probe.launching import is_complete
from tests.reconciliation.real import ask

if TYPE_CHECKING:
    from fairclock.demo.live.run import LiveResult
    from tests.reconciliation.real import Asked

REQUESTS = 80
STATE = "event, instance, engine_rank, device, gpus, max_num_seqs, kv_cache_tokens, running, waiting"
_SERVICE = Path(inference_probe.__file__).parent / "service" / "__main__.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """What came of it: `asked` of the probes, whose store is at `truth`, and `result` of the demonstration.

    began: what the plugin said of the engine's state before the demonstration, as columns `STATE` by name.
    """

    asked: Asked
    truth: Path
    began: list[dict[str, Any]]
    result: LiveResult


def live(folder: Path, *, model: Path, plugin: Path) -> Life:
    """Let it live; the model is made where there is none."""
    python = find_vllm_python()
    if not is_complete(model):
        make_model(python=python, directory=model, output=folder / "model.log")
    prompts = folder / "prompts.txt"
    prompts.write_text("Count from one to ten.\n")
    grpc, http = (f"127.0.0.1:{free_port()}" for _ in range(2))
    with contextlib.ExitStack() as ending:
        with open_store(f"chdb://{folder / 'truth'}") as store:
            deliver = DirectDelivery(store, adapters={FORMAT: lines_of, STATE_FORMAT: state_batches})
            with OtlpReceiver(deliver, grpc, http, source="otlp"):
                engine = ending.enter_context(
                    running_engine(
                        python=python,
                        model=model,
                        directory=folder,
                        port=free_port(),
                        otlp_endpoint=f"http://{grpc}",
                        options=("--enable-per-request-metrics",),
                        environment={
                            "PYTHONPATH": str(plugin),
                            "FAIRCLOCK_OTLP_ENDPOINT": f"http://{http}",
                            "FAIRCLOCK_FLUSH_SECONDS": "0.2",
                            "FAIRCLOCK_STATE_SECONDS": "0.2",
                        },
                        server=(str(_SERVICE), "--warm-up-prompts", str(prompts), "--"),
                    )
                )
                asked = ask(store, folder, engine.url)
            began = store.rows(Query(sql=f"SELECT {STATE} FROM engine_states FINAL ORDER BY at"))
        result = run_live(
            out=folder / "demonstration",
            requests=REQUESTS,
            now=datetime.now(UTC),
            other=OtherEngine(engine=engine, grpc=grpc, http=http, stop=ending.close),
        )
    return Life(
        asked=asked,
        truth=folder / "truth",
        began=[dict(zip(STATE.split(", "), row, strict=True)) for row in began],
        result=result,
    )
