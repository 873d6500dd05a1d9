"""Own how the machine is looked at: its files below a root, its processes, and what answers on loopback."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import httpx

_ANSWER_SECONDS = 2.0
_LARGEST_ANSWER_BYTES = 4 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What an address said."""

    status: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A machine whose ``/etc``, ``/proc`` and ``/sys`` lie below `root`, and whose loopback address is `host`."""

    root: Path = Path("/")
    host: str = "127.0.0.1"

    def path(self, absolute: str) -> Path:
        """Return where a file of the machine lies."""
        return self.root / absolute.lstrip("/")

    def text(self, absolute: str) -> str | None:
        """Return what a file holds; None where it is not there or cannot be read."""
        try:
            return self.path(absolute).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None

    def command_lines(self) -> list[list[str]]:
        """Return the words of each process that this user may see."""
        found = []
        for path in sorted(self.path("/proc").glob("[0-9]*/cmdline")):
            try:
                words = path.read_bytes().decode(errors="replace").rstrip("\0").split("\0")
            except OSError:  # it has ended since, or is another user's
                continue
            if words != [""]:
                found.append(words)
        return found

    def ask(self, port: int, path: str) -> Answer | None:
        """Return what loopback answers to a GET; None where nothing answers."""
        try:
            with httpx.stream(
                "GET", f"http://{self.host}:{port}{path}", timeout=_ANSWER_SECONDS, trust_env=False
            ) as answer:
                text = ""
                for part in answer.iter_text():
                    text += part
                    if len(text) > _LARGEST_ANSWER_BYTES:
                        break
                return Answer(status=answer.status_code, text=text)
        except httpx.HTTPError:
            return None
