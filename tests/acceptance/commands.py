"""Own the running of Fairclock's commands on a store of their own, as a person would type them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a command left behind."""

    code: int
    out: str
    err: str


def environment(**more: str) -> dict[str, str]:
    """Return an environment in which a command finds this tree and nothing of the user's, nor UTC by chance."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FAIRCLOCK_")}
    return kept | {"PYTHONPATH": str(ROOT), "COLUMNS": "200", "TZ": "America/St_Johns"} | more


def fairclock(
    *words: str | Path, dsn: str, stdin: bytes = b"", timeout_s: float = 300, **more: Any
) -> Answer:
    """Run one command in a process of its own."""
    result = subprocess.run(
        [sys.executable, "-m", "fairclock", *map(str, words)],
        cwd=more.pop("cwd", ROOT),
        env=environment(FAIRCLOCK_DSN=dsn),
        input=stdin,
        capture_output=True,
        timeout=timeout_s,
        check=False,
        **more,
    )
    return Answer(code=result.returncode, out=result.stdout.decode(), err=result.stderr.decode())


class Worker:
    """Run command after command in one process, so that the engine starts once."""

    def __init__(self, dsn: str, *, module: str = "tests.acceptance.worker") -> None:
        """Start the process on the store at `dsn`."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", module],
            cwd=ROOT,
            env=environment(FAIRCLOCK_DSN=dsn),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """Return the process's id."""
        return self._process.pid

    def run(self, *words: str | Path) -> Answer:
        """Run one command line."""
        return Answer(**self.ask([str(word) for word in words]))

    def ask(self, question: object) -> Any:
        """Send one line, return the line that comes back."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question).encode() + b"\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, f"the process ended with {self._process.wait()}"
        return json.loads(answer)

    def kill(self) -> None:
        """End the process as a power cut would."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Let the process end."""
        if self._process.poll() is None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait(timeout=300)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def report(
        self, contract: Path, month: str, folder: Path, *, as_of: str | None = None
    ) -> tuple[bytes, Answer]:
        """Return the bytes of report.json and what the command said."""
        folder.mkdir(parents=True, exist_ok=True)
        words: list[str | Path] = ["report", contract, "--month", month, "--format", "json", "-o", folder]
        answer = self.run(*words, *(["--as-of", as_of] if as_of else []))
        written = folder / f"{contract.stem}-{month}.json"
        assert written.exists(), answer
        return written.read_bytes(), answer


def said(answer: Answer) -> dict[str, int]:
    """Return the counts with which ``ingest --json`` ends."""
    return json.loads(answer.out.strip().splitlines()[-1])  # type: ignore[no-any-return]


def ingest(
    worker: Worker, kind: str, files: Sequence[Path], covers: tuple[str, str] | None = None
) -> dict[str, int]:
    """Ingest `files` and return the counts."""
    words: list[str | Path] = ["ingest", kind, "--json"]
    if covers:
        words += ["--covers", "..".join(covers)]
    answer = worker.run(*words, *files)
    assert answer.code == 0, answer
    return said(answer)
