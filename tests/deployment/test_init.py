"""``fairclock init``: what it says of a machine, and that it sets nothing which could be otherwise."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner

from fairclock.cli import init
from fairclock.cli.configuration import Configuration
from fairclock.cli.discovery import gpus as gpu_look
from fairclock.cli.discovery.engines import look_for_engines
from fairclock.cli.discovery.gpus import look_for_gpus
from fairclock.cli.discovery.limits import look_at_limits
from fairclock.cli.discovery.looking import lines_of, look, settings_of
from fairclock.cli.discovery.machine import Answer, Machine
from fairclock.cli.discovery.nginx import look_for_nginx
from fairclock.cli.discovery.stores import look_for_clickhouse
from fairclock.config import parse_configuration
from fairclock.config.template import template

METRICS = '# HELP vllm:num_requests_running x\nvllm:num_requests_running{engine="0"} 0.0\n'
SHIPPED_LINE = json.dumps(
    {"time": "1790000000.123", "request_time": "0.5", "status": "200", "tenant": "acme"}
)
COMBINED_LINE = '10.0.0.1 - - [30/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "curl"'


class Scene(Machine):
    """A machine whose answers on loopback are given, by port and path."""

    __slots__ = ()
    answers: dict = {}  # noqa: RUF012 - of the class, and put in by `scene`

    def ask(self, port, path):
        return self.answers.get((port, path))


@pytest.fixture
def scene(tmp_path, monkeypatch):
    """Return how to make a machine: files by their paths, processes, answers."""
    monkeypatch.setattr(gpu_look, "driver_count", lambda: (0, "NVML shows none"))
    monkeypatch.setattr(gpu_look.shutil, "which", lambda name: None)

    def made(files=None, *, processes=(), answers=None):
        for path, text in (files or {}).items():
            place = tmp_path / path.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        for number, words in enumerate(processes, 100):
            place = tmp_path / "proc" / str(number)
            place.mkdir(parents=True)
            (place / "cmdline").write_bytes("\0".join(words).encode() + b"\0")
        monkeypatch.setattr(Scene, "answers", answers or {})
        return Scene(root=tmp_path)

    return made


def nginx(access_log, *, more=""):
    return {
        "/etc/nginx/nginx.conf": "events {}\nhttp {\n  include sites/*.conf; # a comment; with { signs\n}\n",
        "/etc/nginx/sites/a.conf": f'server {{ access_log {access_log}; add_header X "a;b"; {more} }}',
    }


def said_of(discovered):
    return [(each.mark, each.detail) for each in discovered]


@pytest.mark.parametrize(
    ("access_log", "files", "found", "said"),
    [
        pytest.param("/var/log/f.log fairclock buffer=64k", {}, ["/var/log/f.log"], "nothing in it yet",
            id="the shipped format, before the first request"),
        pytest.param("/var/log/f.log fairclock", {"/var/log/f.log": SHIPPED_LINE + "\n"}, ["/var/log/f.log"],
            "in the format fairclock", id="the shipped format"),
        pytest.param("/var/log/f.log mine", {"/var/log/f.log": SHIPPED_LINE + "\n"}, ["/var/log/f.log"],
            "in the format mine", id="a format of another name whose lines can be read"),
        pytest.param("/var/log/a.log", {"/var/log/a.log": COMBINED_LINE + "\n"}, None,
            "written in the format combined", id="a log without durations"),
        pytest.param("/var/log/a.log combined", {}, None, "nothing in it can be read", id="an empty log of another format"),
        pytest.param("off", {}, None, "names no access_log", id="no log at all"),
        pytest.param("syslog:server=10.0.0.1:514 fairclock", {}, None, "gateway.syslog.udp", id="a log that goes elsewhere"),
        pytest.param("/var/log/$host.log fairclock", {}, None, "variables in its name", id="a log with variables in its name"),
    ],
)  # fmt: skip
def test_nginx_s_log_is_followed_where_it_can_be_read(scene, access_log, files, found, said):
    gateways = look_for_nginx(scene({**nginx(access_log), **files}))
    settings = settings_of(gateways.statements)
    assert settings.get("gateway.files") == found
    assert any(said in each.detail for each in gateways.statements), said_of(gateways.statements)


def test_the_configuration_of_the_nginx_that_runs_goes_before_that_in_the_usual_place(scene):
    files = {
        **nginx("/var/log/usual.log fairclock"),
        "/srv/n/c.conf": "http { access_log logs/own.log fairclock; }",
    }
    machine = scene(files, processes=[["nginx: master process /usr/sbin/nginx -p /srv/n -c c.conf"]])
    assert settings_of(look_for_nginx(machine).statements) == {"gateway.files": ["/srv/n/logs/own.log"]}


def test_several_logs_are_all_followed_each_once(scene):
    more = "location /v1/ { access_log /var/log/b.log fairclock; } location / { access_log /var/log/a.log fairclock; }"
    statements = look_for_nginx(scene(nginx("/var/log/a.log fairclock", more=more))).statements
    assert settings_of(statements) == {"gateway.files": ["/var/log/a.log", "/var/log/b.log"]}


def test_a_file_that_is_included_and_not_there_is_said(scene):
    (statement,) = look_for_nginx(
        scene({"/etc/nginx/nginx.conf": "http { include conf.d/gone.conf; }"})
    ).statements
    assert (statement.mark, "/etc/nginx/conf.d/gone.conf cannot be read" in statement.detail) == (
        "seen",
        True,
    )


def test_engines_are_looked_for_where_processes_and_nginx_say(scene):
    more = "location / { proxy_pass http://127.0.0.1:8001; }"
    machine = scene(
        {**nginx("off", more=more), "/etc/nginx/sites/b.conf": "upstream e { server localhost:8002 max_fails=1; }"},
        processes=[["/opt/vllm/bin/python3", "-c", "from multiprocessing.resource_tracker import main"],
            ["python3", "-m", "vllm.entrypoints.openai.api_server", "--port", "8003"], ["vllm", "serve", "m", "--port=8004"]],
        answers={(port, "/metrics"): Answer(status=200, text=METRICS) for port in (8001, 8002, 8004)},
    )  # fmt: skip
    ports = look_for_nginx(machine).engine_ports
    assert ports == [8001, 8002]
    found, silent = look_for_engines(machine, behind_gateways=ports)
    assert found.settings == {
        "vllm.targets": [f"http://127.0.0.1:{port}/metrics" for port in (8001, 8002, 8004)]
    }
    assert silent.detail.startswith("2 of its processes")
    assert "--otlp-traces-endpoint" in silent.detail


@pytest.mark.parametrize(
    ("answer", "mark", "said"),
    [
        pytest.param(None, "not found", "ports 8000 answers", id="nobody answers"),
        pytest.param(Answer(status=200, text="node_cpu 1\n"), "not found", "as vLLM does", id="somebody else answers"),
        pytest.param(Answer(status=401, text=""), "seen", "asks for a token", id="it asks for a token"),
    ],
)  # fmt: skip
def test_what_is_not_known_to_be_an_engine_is_not_made_one(scene, answer, mark, said):
    (found,) = look_for_engines(scene(answers={(8000, "/metrics"): answer}), behind_gateways=[])
    assert (found.mark, found.settings) == (mark, {})
    assert said in found.detail


def test_gpus_that_the_driver_shows_are_all_expected(scene, monkeypatch):
    monkeypatch.setattr(gpu_look, "driver_count", lambda: (8, ""))
    assert look_for_gpus(scene()).settings == {"gpu.source": "nvml", "gpu.expect": 8}


def test_gpus_behind_an_exporter_are_asked_there(scene):
    text = 'DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1",Hostname="n"} 5\n'
    found = look_for_gpus(scene(answers={(9400, "/metrics"): Answer(status=200, text=text)}))
    assert found.settings == {"gpu.source": "dcgm", "gpu.urls": ["http://127.0.0.1:9400/metrics"]}


def test_devices_that_nobody_shows_are_said_and_left_alone(scene):
    found = look_for_gpus(scene({"/dev/nvidia0": "", "/dev/nvidiactl": ""}))
    assert (found.mark, found.settings) == ("seen", {})
    assert found.detail.startswith("1 devices /dev/nvidia*, but NVML shows none")


def test_a_clickhouse_is_said_and_its_account_not_guessed(scene):
    found = look_for_clickhouse(scene(answers={(8123, "/ping"): Answer(status=200, text="Ok.\n")}))
    assert (found.mark, found.settings) == ("seen", {})
    assert "store.dsn" in found.detail
    assert look_for_clickhouse(scene()).mark == "not found"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        pytest.param({"/proc/self/cgroup": "0::/a/b\n", "/sys/fs/cgroup/cgroup.controllers": "cpu", "/sys/fs/cgroup/a/memory.max": "536870912\n",
            "/sys/fs/cgroup/a/b/memory.max": "max\n", "/sys/fs/cgroup/a/b/cpu.max": "150000 100000\n"},
            "512 MiB of memory and 1.5 CPUs (cgroup v2); an embedded store wants 1 GiB", id="version 2, the tightest holds"),
        pytest.param({"/sys/fs/cgroup/memory/memory.limit_in_bytes": "4294967296\n", "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
            "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}, "4,096 MiB of memory (cgroup v1)", id="version 1"),
        pytest.param({"/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"},
            "no control group limits memory or CPU", id="version 1 without a limit"),
        pytest.param({}, "no control group limits memory or CPU", id="no control group"),
    ],
)  # fmt: skip
def test_the_limits_of_the_control_group(scene, files, said):
    assert look_at_limits(scene(files)).detail.startswith(said)


def test_the_file_says_at_its_head_what_was_found_and_is_one_that_can_be_read(scene, monkeypatch, tmp_path):
    machine = scene(
        nginx("/var/log/f.log fairclock"), answers={(8000, "/metrics"): Answer(status=200, text=METRICS)}
    )
    monkeypatch.setattr(init, "Machine", lambda: machine)
    path = tmp_path / "fairclock.yaml"
    done = CliRunner().invoke(init.command, [str(path)])
    assert done.exit_code == 0
    text = path.read_text()
    statements = lines_of(look(machine))
    assert all(f"#   {line}\n" in text for line in statements)
    assert all(line in done.stderr for line in statements)
    read = parse_configuration(text.encode(), Configuration, where="file")
    assert read.gateway.files == (Path("/var/log/f.log"),)
    assert [each.url for each in read.vllm.targets] == ["http://127.0.0.1:8000/metrics"]
    changed = {
        name for name in Configuration.model_fields if getattr(read, name) != getattr(Configuration(), name)
    }
    assert changed == {"gateway", "vllm"}


def test_where_nothing_is_found_the_file_is_the_template_and_standard_error_says_so(scene, monkeypatch):
    monkeypatch.setattr(init, "Machine", scene)
    done = CliRunner().invoke(init.command, ["-"])
    assert done.stdout == template(Configuration)
    assert [line.split("  ")[0] for line in done.stderr.splitlines()] == ["not found"] * 5
    assert CliRunner().invoke(init.command, ["-", "--quiet"]).stderr == ""


def test_loopback_is_really_asked(monkeypatch):
    # a busy machine is none that nobody answers on
    monkeypatch.setattr("fairclock.cli.discovery.machine._ANSWER_SECONDS", 120.0)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(METRICS.encode())

        def log_message(self, *words):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.server_address[1]
        assert Machine().ask(port, "/metrics") == Answer(status=200, text=METRICS)
        server.shutdown()
    assert Machine().ask(port, "/metrics") is None
