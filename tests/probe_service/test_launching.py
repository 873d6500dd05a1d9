"""How the service is started, what it is told, and what it tells of itself."""

import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from fairclock.cli.probe import command
from inference_probe.launching import is_complete, own_options, service_launch
from inference_probe.service import stages
from inference_probe.service.options import read_options
from inference_probe.service.settings import engine_settings

SYSTEM_TICK_SECONDS = 0.011
PYTHON = Path("/opt/vllm/bin/python")


def launch(**changes):
    given = {
        "python": PYTHON,
        "model": "org/model",
        "is_tiny": False,
        "host": "::1",
        "port": 80,
        "environment": {},
    }
    return service_launch(**{**given, **changes})


def test_any_model_is_left_to_vllm():
    made = launch(own=("--stop-seconds", "5"), engine=("--max-num-seqs", "2"))
    main, *words = made.arguments[1:]
    assert Path(main).is_file()
    assert " ".join(words) == "--stop-seconds 5 -- --model org/model --host ::1 --port 80 --max-num-seqs 2"
    assert made.environment == {"VLLM_NO_USAGE_STATS": "1"}


def test_the_tiny_model_needs_nothing_from_elsewhere_and_gives_way_to_what_is_asked():
    made = launch(is_tiny=True, engine=("--dtype", "float32"), environment={"VLLM_CPU_KVCACHE_SPACE": "4"})
    words = made.arguments
    assert words.index("bfloat16") < words.index("float32")  # the later one wins with vLLM's parser
    assert (made.environment["HF_HUB_OFFLINE"], made.environment["VLLM_CPU_KVCACHE_SPACE"]) == ("1", "4")


def test_the_command_takes_the_place_of_this_process(monkeypatch, tmp_path):
    ran = []
    monkeypatch.setattr("os.execve", lambda *given: ran.append(given))
    prompts = tmp_path / "prompts.txt"
    words = ["serve", "--model", "m", "--vllm-python", sys.executable, "--keep-timings", "7"]
    words += ["--warm-up-prompts", str(prompts), "--port", "0", "--", "--max-num-seqs", "1"]
    done = CliRunner().invoke(command, words, catch_exceptions=False)
    ((program, arguments, environment),) = ran
    assert (done.exit_code, program, environment["VLLM_NO_USAGE_STATS"]) == (0, sys.executable, "1")
    assert list(arguments[2:]) == [
        "--keep-timings", "7", "--warm-up-prompts", str(prompts),
        "--", "--model", "m", "--host", "127.0.0.1", "--port", "0", "--max-num-seqs", "1",
    ]  # fmt: skip


def test_a_folder_is_a_model_only_with_all_of_its_files(tmp_path):
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        assert not is_complete(tmp_path)
        (tmp_path / name).touch()
    assert is_complete(tmp_path)


def test_the_services_options_are_read_as_they_are_given(tmp_path):
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("one\n\n 二 \n", encoding="utf-8")
    own = own_options(kept_timings=7, prompts=prompts, stop_seconds=0.5)
    read = read_options([*own, "--", "--model", "m", "--", "x"])
    assert (read.kept_timings, read.prompts, read.stop_seconds) == (7, ("one", "二"), 0.5)
    assert read.engine == ("--model", "m", "--", "x")
    assert own_options(kept_timings=None, prompts=None, stop_seconds=None) == ()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["--keep-timings", "0"], "--keep-timings: not from 1", id="no timings at all"),
        pytest.param(["--stop-seconds", "nan"], "--stop-seconds: below 0", id="no number of seconds"),
        pytest.param(["--warm-up-prompts", "/nowhere"], "/nowhere cannot be used", id="no such file"),
        pytest.param(
            ["--warm-up-prompts", "/dev/null"], "no line holds a prompt", id="no prompt in the file"
        ),
    ],
)
def test_an_option_that_cannot_be_used_is_named(words, said, capsys):
    with pytest.raises(SystemExit) as ended:
        read_options(words)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def run(*words, folder):
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=kept,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_a_python_without_vllm_is_told_so_and_needs_nothing_of_fairclock_on_its_path(tmp_path):
    done = run(launch().arguments[1], "--", "--port", "0", folder=tmp_path)
    assert done.returncode == 2
    assert "has no vLLM that the service knows" in done.stderr


def test_what_is_told_of_the_engine_holds_no_secret_and_no_guess():
    config = SimpleNamespace(
        scheduler_config=SimpleNamespace(max_num_seqs=2, policy="fcfs"),
        model_config=SimpleNamespace(dtype=object),
    )
    options = {"max-num-batched-tokens": "64", "api-key": "k", "hf-token": "t", "ssl-keyfile-password": "p"}
    found = engine_settings(config, served_names=["tiny"], options=options, kept_timings=5)
    assert found["options"] == {"max-num-batched-tokens": "64"}
    assert found["engine"]["max_num_seqs"] == 2
    assert found["engine"]["kv_cache_blocks"] is None
    assert found["engine"]["dtype"] == "<class 'object'>"
    assert found["served_models"] == ["tiny"]


def test_a_process_that_stands_still_between_two_clocks_knows_all_the_same_when_it_began(monkeypatch):
    calm, stood_still = stages.process_started(), 0.0
    monotonic, clock_gettime = time.monotonic, time.clock_gettime

    def since_boot(clock):
        nonlocal stood_still
        stood_still = 7.0
        return clock_gettime(clock) + stood_still

    monkeypatch.setattr(time, "clock_gettime", since_boot)
    monkeypatch.setattr(time, "monotonic", lambda: monotonic() + stood_still)
    assert stages.process_started() == pytest.approx(calm, abs=0.5)


def test_a_process_knows_when_it_began(tmp_path):
    code = f"import runpy; print(runpy.run_path({stages.__file__!r})['process_started']())"
    before = time.monotonic()
    began = float(run("-c", code, folder=tmp_path).stdout)
    assert before - SYSTEM_TICK_SECONDS <= began <= time.monotonic()
