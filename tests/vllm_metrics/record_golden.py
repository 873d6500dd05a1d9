"""Record what real vLLM answers: python -m tests.vllm_metrics.record_golden; then write_golden, and look at the difference.

Needs vLLM's environment (`make live` makes it, FAIRCLOCK_VLLM_PYTHON names another) and some minutes. Two engines and two API
servers need the command `vllm serve`, which asks for the metadata of a distribution called vllm; the CPU's is called
otherwise, so that one is made on the spot.
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

from fairclock.demo.live.engine import make_model
from fairclock.demo.live.programs import Program, find_vllm_python, free_port, running
from tests.vllm_metrics.write_golden import FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator

_SERVE = ["-m", "vllm.entrypoints.cli.main", "serve"]
_API_SERVER = ["-m", "vllm.entrypoints.openai.api_server"]
_LORA = """
import json, sys, torch
from pathlib import Path
from safetensors.torch import save_file
torch.manual_seed(11)
for name in ("alpha", "beta"):
    folder = Path(sys.argv[1]) / name
    folder.mkdir()
    base = "base_model.model.model.layers.{}.self_attn.{}.lora_{}.weight"
    save_file({base.format(layer, part, side): (torch.randn(8, 256) if side == "A" else torch.randn(256, 8)).to(torch.bfloat16) * 0.02
               for layer in range(2) for part in ("q_proj", "v_proj") for side in "AB"}, str(folder / "adapter_model.safetensors"))
    (folder / "adapter_config.json").write_text(json.dumps(
        {"peft_type": "LORA", "r": 8, "lora_alpha": 16, "bias": "none", "target_modules": ["q_proj", "v_proj"], "task_type": "CAUSAL_LM"}))
"""


class Recording:
    """One running vLLM, asked and scraped."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._clients = ThreadPoolExecutor(8)

    def save(self, name: str) -> None:
        """Keep what /metrics says."""
        body = httpx.get(f"{self._url}/metrics", timeout=30.0, trust_env=False).content
        (FOLDER / f"{name}.txt.gz").write_bytes(gzip.compress(body, mtime=0))

    def ask(self, *, tokens: int, model: str = "tiny", sequences: int = 1, times: int = 1) -> None:
        """Send requests and do not wait for them."""
        for number in range(times):
            body = {
                "model": model,
                "prompt": f"{number} Count",
                "max_tokens": tokens,
                "ignore_eos": True,
                "n": sequences,
            }
            self._clients.submit(
                httpx.post, f"{self._url}/v1/completions", json=body, timeout=300.0, trust_env=False
            )

    def leave(self) -> None:
        """Begin a stream and leave in the middle of it."""
        body = {"model": "tiny", "prompt": "A queue", "max_tokens": 1500, "ignore_eos": True, "stream": True}
        with httpx.stream(
            "POST", f"{self._url}/v1/completions", json=body, timeout=60.0, trust_env=False
        ) as answer:
            for _, _ in zip(range(3), answer.iter_lines(), strict=False):
                pass

    def await_load(self) -> None:
        """Wait until as many requests run as may, and some tokens have come."""
        full = re.compile(rb"^vllm:num_requests_running[{].*[}] 2[.]0$", re.MULTILINE)
        while not full.search(httpx.get(f"{self._url}/metrics", timeout=30.0, trust_env=False).content):
            time.sleep(0.1)
        time.sleep(1.0)

    def settle(self) -> None:
        """Wait until every request has ended and vLLM has noticed."""
        self._clients.shutdown(wait=True)
        self._clients = ThreadPoolExecutor(8)
        time.sleep(3.0)


@contextmanager
def vllm(name: str, folder: Path, module: list[str], *options: str) -> Iterator[Recording]:
    """Run vLLM with the model in `folder`."""
    port = free_port()
    words = f"--served-model-name tiny --host 127.0.0.1 --port {port} --dtype bfloat16 --max-model-len 2048 --max-num-seqs 2"
    program = Program(
        name="vLLM",
        arguments=[str(find_vllm_python()), *module, "--model", str(folder / "model"), *words.split(), "--enforce-eager", *options],
        output=folder / f"{name}.log",
        environment={
            "VLLM_CPU_KVCACHE_SPACE": "1",
            "VLLM_NO_USAGE_STATS": "1",
            "HF_HUB_OFFLINE": "1",
            "PYTHONPATH": str(folder / "metadata") if module is _SERVE else "",
        },
    )  # fmt: skip
    with running(program) as server:
        server.await_answer(f"http://127.0.0.1:{port}/health", within_seconds=600.0)
        yield Recording(f"http://127.0.0.1:{port}")


def record(folder: Path) -> None:
    """Record every case."""
    python = find_vllm_python()
    make_model(python=python, directory=folder / "model", output=folder / "model.log")
    subprocess.run([python, "-c", _LORA, folder], check=True)
    version = "import importlib.metadata as m, json; print(json.dumps(m.version('vllm-cpu')))"
    found = json.loads(subprocess.check_output([python, "-c", version]))
    metadata = folder / f"metadata/vllm-{found}+cpu.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {found}+cpu\n")
    with vllm("plain", folder, _API_SERVER) as engine:
        engine.save("started")
        engine.ask(tokens=1500, times=7)
        engine.await_load()
        engine.save("under-load")
        engine.settle()
        engine.save("after-load")
        engine.leave()
        engine.settle()
        engine.save("after-abort")
        engine.ask(tokens=5, sequences=2)
        engine.settle()
        engine.save("two-sequences")
    adapters = ["--enable-lora", "--max-loras", "2", "--max-lora-rank", "8", "--lora-modules"]
    with vllm(
        "lora", folder, _API_SERVER, *adapters, f"alpha={folder / 'alpha'}", f"beta={folder / 'beta'}"
    ) as engine:
        for model in ("alpha", "beta"):
            engine.ask(tokens=300, model=model, times=2)
        engine.await_load()
        engine.save("lora-under-load")
    for name, *options in (
        ("two-engines-one-server", "--data-parallel-size", "2", "--api-server-count", "1"),
        ("two-engines-under-load", "--data-parallel-size", "2"),
        ("two-servers", "--api-server-count", "2"),
    ):
        with vllm(name, folder, _SERVE, *options) as engine:
            engine.ask(tokens=200, times=6)
            if name.endswith("load"):
                engine.await_load()
            else:
                engine.settle()
            engine.save(name)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        record(Path(scratch))
