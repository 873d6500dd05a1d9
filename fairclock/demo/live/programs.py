"""Own the outside programs of the live demonstration: finding them, and starting, watching and ending them."""

from __future__ import annotations

import atexit
import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import httpx

from fairclock.errors import FairclockError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_POLL_SECONDS = 0.1
_LAST_LINES = 12
_HELD = (signal.SIGINT, signal.SIGTERM)
_OUTGOING_PORTS = Path("/proc/sys/net/ipv4/ip_local_port_range")
_FIRST_PORT, _ROOMY_ABOVE, _PORTS_TRIED = 10_000, 12_000, 20
_given_ports: set[int] = set()
"""Those that this process gave out: a listener that takes long to start has not bound its own yet."""
_claims: deque[socket.socket] = deque()
"""Names that tell other processes of the latest of them."""
_MOST_CLAIMS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What to run, where its output goes, and how it is asked to end."""

    name: str
    arguments: Sequence[str]
    output: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    stop_signal: signal.Signals = signal.SIGTERM
    stop_seconds: float = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A started program."""

    program: Program
    process: subprocess.Popen[bytes]

    def await_answer(self, url: str, *, within_seconds: float) -> None:
        """Return once `url` answers 200.

        Raises `FairclockError` with the program's last words when it ends before, or at the deadline.
        """
        deadline = time.monotonic() + within_seconds
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise self._failure(f"ended with code {self.process.returncode} before it was ready")
            with contextlib.suppress(httpx.TransportError):
                if httpx.get(url, timeout=2.0, trust_env=False).status_code == httpx.codes.OK:
                    return
            time.sleep(_POLL_SECONDS)
        raise self._failure(f"was not ready after {within_seconds:g} s")

    def stop(self) -> None:
        """Ask it to end, wait, and kill its whole process group if it does not; ending twice is fine."""
        if self.process.poll() is None:
            self.process.send_signal(self.program.stop_signal)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(self.program.stop_seconds)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)  # children too, also those of one that died by itself
        self.process.wait()

    def _failure(self, problem: str) -> FairclockError:
        lines = self.program.output.read_text(errors="replace").splitlines()[-_LAST_LINES:]
        return FairclockError(
            self.program.name,
            problem,
            found="\n  ".join(["its last words:", *lines]) if lines else "it said nothing",
            remedy=f"read {self.program.output}",
        )


@contextlib.contextmanager
def running(program: Program) -> Iterator[Running]:
    """Start `program` and end it, with all its children, when the block is left.

    It gets a process group of its own, so that it can be killed whole, but no session of its own: Linux
    schedules sessions as groups, and on a busy machine one of two groups can wait for seconds, which would
    be measured as network time.
    """
    program.output.parent.mkdir(parents=True, exist_ok=True)
    started: Running | None = None
    try:
        with _signals_held(), program.output.open("wb") as output:
            process = subprocess.Popen(
                list(program.arguments),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **program.environment},
                process_group=0,
            )
            started = Running(program=program, process=process)
        yield started
    finally:
        if started is not None:
            started.stop()


@contextlib.contextmanager
def _signals_held() -> Iterator[None]:
    """Let what is asked of this process wait until the block is left: a program that began within it is known by then."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    previous = {each: handler for each in _HELD if callable(handler := signal.getsignal(each))}
    try:
        for each in previous:
            signal.signal(each, lambda number, _: came.append(number))
        yield
    finally:
        for each, handler in previous.items():
            signal.signal(each, handler)
        for number in came:
            signal.raise_signal(number)


@contextlib.contextmanager
def ended_in_order() -> Iterator[None]:
    """Let SIGTERM unwind the program as Ctrl-C does, so that no vLLM is left behind."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(number: int, frame: object) -> NoReturn:
        del frame
        raise SystemExit(128 + number)

    previous = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


def free_port() -> int:
    """
    Return a TCP port of the loopback address that nobody listened on a moment ago, each time another one.

    It lies below those the system gives to outgoing connections where there is room: nobody is handed it by chance
    before its listener starts, or while that is started again. While this process runs, no other one that asks here is
    given it either.
    """
    first_outgoing = int(_OUTGOING_PORTS.read_text(encoding="ascii").split()[0])
    # whoever seeds the common one would have the same ports in several processes
    chance = random.SystemRandom()
    wanted = (
        chance.sample(range(_FIRST_PORT, first_outgoing), k=_PORTS_TRIED)
        if first_outgoing > _ROOMY_ABOVE
        else []
    )
    for port in [*wanted, *[0] * _PORTS_TRIED]:
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            found: int = probe.getsockname()[1]
            if found not in _given_ports and _claim(found):
                _given_ports.add(found)
                return found
    raise FairclockError("127.0.0.1", "no port is free", remedy="stop programs that listen there")


def _claim(port: int) -> bool:
    """Take the name of `port` that one process may have at a time; return False where another has it."""
    try:
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    except OSError:  # a process that may have no such sockets goes without names
        return True
    try:
        claim.bind(f"\0fairclock's port {port}")  # in no folder, and gone with its process
    except OSError:
        claim.close()
        return False
    _claims.append(claim)
    if len(_claims) > _MOST_CLAIMS:
        _claims.popleft().close()
    return True


@atexit.register
def _give_up_claims() -> None:
    """Close what would be closed with a warning."""
    while _claims:
        _claims.pop().close()


def find_nginx() -> str:
    """Return nginx's path, from PATH or where Debian puts it."""
    path = os.environ.get("PATH", os.defpath) + os.pathsep + "/usr/sbin" + os.pathsep + "/usr/local/sbin"
    found = shutil.which("nginx", path=path)
    if found is None:
        raise FairclockError(
            "nginx",
            "not found on PATH or in /usr/sbin",
            remedy="install it (Debian, Ubuntu: apt-get install nginx-light)",
        )
    return found


def find_vllm_python(given: Path | None = None) -> Path:
    """Return the Python that has vLLM: `given`, else FAIRCLOCK_VLLM_PYTHON, else .venv-vllm here."""
    asked = given or (Path(text) if (text := os.environ.get("FAIRCLOCK_VLLM_PYTHON")) else None)
    candidates = [asked] if asked else [Path.cwd() / ".venv-vllm/bin/python", _repository_python()]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise FairclockError(
        "vLLM",
        "its Python environment was not found",
        found=", ".join(str(candidate) for candidate in dict.fromkeys(candidates)),
        remedy="run `make live`, which makes .venv-vllm, or name another one in FAIRCLOCK_VLLM_PYTHON",
    )


def _repository_python() -> Path:
    return Path(__file__).resolve().parents[3] / ".venv-vllm/bin/python"
