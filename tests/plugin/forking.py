"""Fork with a record waiting, and say what each of the two processes sends."""

import os

from fairclock_vllm_plugin.engine import EngineSettings
from fairclock_vllm_plugin.reporting import EngineReport
from tests.plugin.stats import Collector, make_sender, step

collector = Collector()
sender = make_sender(collector, flush_seconds=60.0)
report = EngineReport(sender, settings=EngineSettings(), rank=0, state_seconds=0.0)
report.record(None, step("of the parent"))
if os.fork() == 0:
    state = "empty" if not sender.waiting else "with what waits"
    report.record(None, step("of the child"))
    sender.close(timeout_seconds=60)
    os.write(1, f"child begins {state}: {collector.ids}\n".encode())
    os._exit(0)
os.wait()
sender.close(timeout_seconds=60)
print(f"parent: {collector.ids}", flush=True)  # noqa: T201
