"""Outside programs are found, waited for, and never left behind."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fairclock.demo.live.engine import make_model
from fairclock.demo.live.programs import Program, find_nginx, find_vllm_python, free_port, running
from fairclock.errors import FairclockError

PATIENCE_SECONDS = 120


def shell(tmp_path, script, **changes):
    return Program(
        **{
            "name": "vLLM",
            "arguments": ["sh", "-c", script],
            "output": tmp_path / "out/log",
            "stop_seconds": 1.0,
        }
        | changes
    )


def is_gone(process_id):
    """Say whether a process ends soon; one that only waits for its parent to ask has ended."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.02)
    return False


def read_soon(path):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        if path.exists() and path.read_text().endswith("\n"):
            return path.read_text()
        time.sleep(0.02)
    raise AssertionError(f"{path} was not written")


def test_a_program_that_dies_early_is_quoted(tmp_path):
    program = shell(tmp_path, "echo no module named vllm >&2; exit 3")
    with running(program) as started, pytest.raises(FairclockError) as raised:
        started.await_answer(f"http://127.0.0.1:{free_port()}/health", within_seconds=PATIENCE_SECONDS)
    assert str(raised.value) == (
        "vLLM: ended with code 3 before it was ready (its last words:\n  no module named vllm);"
        f" read {tmp_path / 'out/log'}"
    )


def test_a_program_that_never_answers_is_given_up(tmp_path):
    with (
        running(shell(tmp_path, "sleep 60")) as started,
        pytest.raises(FairclockError, match=r"not ready after 0\.3 s"),
    ):
        started.await_answer(f"http://127.0.0.1:{free_port()}/health", within_seconds=0.3)
    assert started.process.returncode is not None


@pytest.mark.parametrize(
    "script",
    [
        "sleep 60 & echo $! > child; wait",
        "trap '' TERM; sleep 60 & echo $! > child; wait; wait",
        "sleep 60 & echo $! > child; exit 0",
    ],
    ids=["that ends when asked", "that does not listen", "that died by itself"],
)
def test_no_child_outlives_a_program(tmp_path, script):
    failing = contextlib.ExitStack()
    failing.enter_context(running(shell(tmp_path, f"cd {tmp_path}; {script}")))
    child = int(read_soon(tmp_path / "child"))
    with pytest.raises(ZeroDivisionError), failing:
        raise ZeroDivisionError
    assert is_gone(child)


def test_a_terminated_fairclock_leaves_no_program_behind(tmp_path):
    script = (
        "import pathlib, time\n"
        "from fairclock.demo.live.programs import Program, ended_in_order, running\n"
        f"here = pathlib.Path({str(tmp_path)!r})\n"
        "program = Program(name='x', arguments=['sh', '-c', f'echo $$ > {here}/child; sleep 600'], output=here / 'log')\n"
        "with ended_in_order(), running(program):\n"
        "    time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script]) as fairclock:
        child = int(read_soon(tmp_path / "child"))
        fairclock.send_signal(signal.SIGTERM)
        assert fairclock.wait(PATIENCE_SECONDS) == 128 + signal.SIGTERM
    assert is_gone(child)


def test_a_fairclock_that_is_terminated_while_it_starts_a_program_leaves_none_behind(tmp_path):
    script = (
        "import os, pathlib, signal, subprocess\n"
        "from fairclock.demo.live.programs import Program, ended_in_order, running\n"
        f"here = pathlib.Path({str(tmp_path)!r})\n"
        "class Slow(subprocess.Popen):\n"
        "    def __init__(self, *given, **more):\n"
        "        super().__init__(*given, **more)\n"
        "        (here / 'child').write_text(f'{self.pid}\\n')\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "subprocess.Popen = Slow\n"
        "program = Program(name='x', arguments=['sleep', '600'], output=here / 'log')\n"
        "with ended_in_order(), running(program):\n"
        "    raise AssertionError('it goes on')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], timeout=PATIENCE_SECONDS, check=False)
    assert done.returncode == 128 + signal.SIGTERM
    assert is_gone(int(read_soon(tmp_path / "child")))


def test_no_port_is_given_twice():
    given = [free_port() for _ in range(300)]
    assert len(set(given)) == len(given)


def test_a_port_that_another_process_was_given_is_not_given_here(monkeypatch):
    script = "from fairclock.demo.live.programs import free_port\nprint(free_port(), flush=True)\ninput()"  # until it is ended
    words = [sys.executable, "-c", script]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        theirs = int(other.stdout.readline())
        ours = free_port()
        offered = iter([[theirs, ours + 1], [theirs, ours + 2]])
        monkeypatch.setattr("random.SystemRandom.sample", lambda *_, **__: next(offered))
        assert free_port() != theirs
        other.communicate("\n")
    # with that process its claim is gone
    assert free_port() == theirs


def test_a_program_shares_our_session_but_not_our_process_group(tmp_path):
    with running(shell(tmp_path, "sleep 60")) as started:
        assert os.getsid(started.process.pid) == os.getsid(0)
        assert os.getpgid(started.process.pid) == started.process.pid


def test_without_nginx_the_remedy_is_named(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    with pytest.raises(FairclockError, match="apt-get install nginx"):
        find_nginx()


def test_without_vllms_python_the_remedy_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("FAIRCLOCK_VLLM_PYTHON", str(tmp_path / "nowhere/python"))
    with pytest.raises(FairclockError, match=r"nowhere/python.*make live.*FAIRCLOCK_VLLM_PYTHON"):
        find_vllm_python()


def test_vllms_python_is_the_one_given_before_the_variable_before_the_one_here(monkeypatch, tmp_path):
    here, named, given = tmp_path / ".venv-vllm/bin/python", tmp_path / "named", tmp_path / "given"
    here.parent.mkdir(parents=True)
    for path in (here, named, given):
        path.touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FAIRCLOCK_VLLM_PYTHON", str(named))
    assert find_vllm_python(given) == given
    assert find_vllm_python() == named
    monkeypatch.delenv("FAIRCLOCK_VLLM_PYTHON")
    assert find_vllm_python() == here


def test_a_python_without_vllms_packages_is_told_apart(tmp_path):
    with pytest.raises(FairclockError, match=r"could not be made .*No module named.*make live"):
        make_model(python=Path(sys.executable), directory=tmp_path / "model", output=tmp_path / "log")
