"""Own what an engine's `/metrics` says while probes run: its KV cache, its memory. A reading that fails is missing, not zero."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Self

import httpx

if TYPE_CHECKING:
    from collections.abc import Callable

KV_CACHE = "vllm:kv_cache_usage_perc"
MEMORY = "process_resident_memory_bytes"
_PERIOD_SECONDS = 1.0
_TIMEOUT_SECONDS = 5.0


def greatest(text: str, name: str) -> float | None:
    """Return the greatest of a metric's samples that are numbers; None where there is none.

    Only its own lines are looked at: to parse them all would hold the loop up for longer than a token takes.
    """
    lines = re.finditer(rf"^{re.escape(name)}(?:\{{.*\}})? (\d\S*)", text, re.MULTILINE)
    return max((float(each[1]) for each in lines), default=None)


def read_metrics(url: str) -> str | None:
    """Return what `url` answers; None where it does not."""
    try:
        answer = httpx.get(url, timeout=_TIMEOUT_SECONDS, trust_env=False)
    except (httpx.HTTPError, httpx.InvalidURL):
        return None
    return answer.text if answer.status_code == httpx.codes.OK else None


class Watching:
    """Read a metric every second beside the loop, in a thread; `peak` is the greatest value, None where there was none."""

    def __init__(self, read: Callable[[], str | None] | None, name: str) -> None:
        self.peak: float | None = None
        self._read = read
        self._name = name
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Start."""
        if self._read is not None:
            self._task = asyncio.get_running_loop().create_task(self._watch(self._read))
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Stop."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _watch(self, read: Callable[[], str | None]) -> None:
        while True:
            text = await asyncio.to_thread(read)
            value = None if text is None else greatest(text, self._name)
            if value is not None:
                self.peak = value if self.peak is None else max(self.peak, value)
            await asyncio.sleep(_PERIOD_SECONDS)
