"""Sidecars and an `up` as processes: what was logged arrives, each line once, whatever happens in between."""

import json
import subprocess
import sys
import time

import httpx
import pytest

from fairclock.demo.live.programs import free_port
from tests.collectors.otlp_requests import good_span, request_of
from tests.sidecar.running import (
    ANSWERING,
    PATIENCE_SECONDS,
    SPANS,
    Running,
    environment,
    eventually,
    fairclock,
    figures,
    stored,
)

BESIDE_THE_SPOOL = {"metrics-position.json", "metrics-position.new"}
"""What is there once the figures were told: a slow `up` comes to it before it is killed."""
COUNTED = "SELECT count(), uniqExact(request_id) FROM {} FINAL"


class Site:
    """A folder with a gateway's log, an `up`, and sidecars."""

    def __init__(self, folder):
        self.folder = folder
        self.dsn = f"chdb://{folder}/store"
        self.log = folder / "access.log"
        self.token_file = folder / "token"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.logged = 0
        self.began = int(time.time()) - 3600

    def up(self, *words):
        listening = ("--listen", f"127.0.0.1:{self.port}", "--grpc", "off", "--http", "127.0.0.1:0")
        up = Running("up", *listening, *words, folder=self.folder, FAIRCLOCK_DSN=self.dsn)
        up.says(ANSWERING)
        return up

    def sidecar(self, *words, collectors=("gateway",)):
        return Running(
            "collect", *collectors, "--file", self.log, "--to", self.url, "--token-file", self.token_file,
            "--spool", self.folder / "sidecar", "--grpc", "off", "--http", "127.0.0.1:0", *words,
            folder=self.folder,
        )  # fmt: skip

    def make_token(self, scope="collector"):
        token = fairclock("tokens", "create", "--scope", scope, "--name", "gw", FAIRCLOCK_DSN=self.dsn)
        self.token_file.write_text(token + "\n")
        return token

    def request(self, count):
        """Let the gateway log `count` more requests."""
        with self.log.open("a") as log:
            for _ in range(count):
                self.logged += 1
                line = {
                    "time": f"{self.began + self.logged}.000",
                    "request_time": "0.100",
                    "status": "200",
                    "request_id": f"r{self.logged}",
                }
                log.write(json.dumps(line) + "\n")

    def counted(self, table):
        output = fairclock("query", "--format", "TSV", COUNTED.format(table), FAIRCLOCK_DSN=self.dsn)
        return tuple(map(int, output.split()))


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path)


def test_a_sidecar_needs_no_store_and_what_it_collects_arrives(site):
    site.request(200)
    with site.log.open("a") as log:
        log.write("no JSON at all\n")
    with site.up() as up:
        site.make_token()
        with site.sidecar("--listen", "127.0.0.1:0", collectors=("gateway", "otlp")) as sidecar:
            body = request_of(*(good_span(number) for number in range(1, 21))).SerializeToString()
            headers = {"Content-Type": "application/x-protobuf"}
            assert (
                httpx.post(
                    sidecar.says(SPANS)[1], content=body, headers=headers, timeout=PATIENCE_SECONDS
                ).status_code
                == 200
            )
            eventually(lambda: stored(site.url, "gateway") == 200, what=lambda: sidecar.said + up.said)
            eventually(lambda: stored(site.url, "engine") == 20, what=lambda: sidecar.said + up.said)
            own = sidecar.says(ANSWERING)[1]  # it hears of it after the other side has stored it
            eventually(
                lambda: figures(own)["fairclock_forwarded_frames_total"] >= 2, what=lambda: sidecar.said
            )
            eventually(lambda: figures(own)["fairclock_tail_lines_total"] == 201, what=lambda: sidecar.said)
            assert figures(own)["fairclock_forwarding"] == 1
            assert sidecar.stop() == 0
            assert "level=" not in sidecar.said
        now = figures(site.url)
        assert now['fairclock_rows_total{kind="gateway",outcome="dead_letter",source="gateway"}'] == 1
        assert up.stop() == 0
        assert "level=" not in up.said
    assert site.counted("gateway_requests") == (200, 200)
    newest, before = site.began + 200, time.time()
    with site.up() as up:
        # what only the store knows is read aside, and told as soon as it is
        now = eventually(
            lambda: now if "fairclock_dead_letters" in str(now := figures(site.url)) else None,
            what=lambda: up.said,
        )
    (reason,) = [name for name in now if name.startswith("fairclock_dead_letters")]
    assert now[reason] == 1
    assert 'kind="gateway"' in reason
    age = now['fairclock_newest_row_age_seconds{kind="gateway",source="gateway"}']
    assert before - newest - 1 < age < time.time() - newest + 1


def test_kills_on_both_sides_lose_nothing_and_double_nothing(site):
    with site.up():
        site.make_token()
    with site.sidecar() as sidecar:
        site.request(50)
        sidecar.says("not delivered: Connection refused")
        sidecar.kill()
        site.request(50)
    with site.sidecar() as sidecar, site.up() as up:
        eventually(lambda: stored(site.url, "gateway") == 100, what=lambda: sidecar.said + up.said)
        site.request(50)
        eventually(lambda: figures(site.url)["fairclock_received_frames_total"] > 1, what=lambda: up.said)
        up.kill()
        site.request(50)
        sidecar.kill()
    with site.sidecar(), site.up() as up:
        eventually(
            lambda: site.counted("gateway_requests") == (200, 200) if _quiet(site) else None,
            what=lambda: up.said,
        )


def _quiet(site):
    """Return whether `up` has nothing left to write and has heard from the sidecar."""
    now = figures(site.url)
    return now["fairclock_received_frames_total"] and not now["fairclock_spool_frames"]


def test_a_token_that_is_refused_is_loud_and_costs_nothing(site):
    with site.up() as up:
        site.make_token(scope="operator")
        site.request(10)
        with site.sidecar() as sidecar:
            sidecar.says(r"level=error .*not delivered: the token is refused \(HTTP 403: .*another scope")
            site.make_token()
            eventually(lambda: stored(site.url, "gateway") == 10, what=lambda: sidecar.said + up.said)
            sidecar.says("delivers again")
            fairclock("tokens", "revoke", site.token_file.read_text().split("_")[1], FAIRCLOCK_DSN=site.dsn)
            deadline = time.monotonic() + 6  # by then the list of tokens was read again
            eventually(lambda: time.monotonic() > deadline, what=str)
            site.request(10)
            sidecar.says(r"the token is refused \(HTTP 401: .*revoked")
            assert stored(site.url, "gateway") == 10
            site.make_token()
            eventually(lambda: stored(site.url, "gateway") == 20, what=lambda: sidecar.said + up.said)
    assert site.counted("gateway_requests") == (20, 20)
    assert "fct_" not in sidecar.said + up.said


def test_a_store_that_is_away_keeps_nothing_from_being_collected(site):
    away = f"clickhouse://someone:hunter2@127.0.0.1:{free_port()}/fairclock"
    site.request(30)
    with Running(
        "up", "--listen", "127.0.0.1:0", "--grpc", "off", "--http", "off", "--file", site.log,
        folder=site.folder, FAIRCLOCK_DSN=away,
    ) as up:  # fmt: skip
        url = up.says(ANSWERING)[1]
        eventually(lambda: figures(url)["fairclock_tail_lines_total"] == 30, what=lambda: up.said)
        eventually(lambda: figures(url)["fairclock_store_failures"] > 0, what=lambda: up.said)
        now = figures(url)
        assert now["fairclock_spool_frames"] > 0
        assert now["fairclock_spool_oldest_unsent_seconds"] > 0
        assert httpx.get(f"{url}/healthz", timeout=PATIENCE_SECONDS).status_code == 200
        assert httpx.get(f"{url}/readyz", timeout=PATIENCE_SECONDS).status_code == 200
        from_a_sidecar = httpx.post(
            f"{url}/v1/frames",
            content=b"",
            headers={"Authorization": f"Bearer fct_{'0' * 8}_{'A' * 43}"},
            timeout=PATIENCE_SECONDS,
        )
        assert from_a_sidecar.status_code == 503
        assert up.stop() == 0
        assert "hunter2" not in up.said
    with Running(
        "up", "--listen", "127.0.0.1:0", "--grpc", "off", "--http", "off",
        folder=site.folder, FAIRCLOCK_DSN=site.dsn, FAIRCLOCK_SPOOL=str(site.folder / "fairclock" / "spool"),
    ) as up:  # fmt: skip
        url = up.says(ANSWERING)[1]
        eventually(lambda: stored(url, "gateway") == 30, what=lambda: up.said)
    assert site.counted("gateway_requests") == (30, 30)


def test_everything_can_stand_in_the_configuration_and_a_flag_stands_above_it(site):
    (site.folder / "fairclock.yaml").write_text(f"""
store: {{dsn: "{site.dsn}"}}
spool: {{directory: waiting, limit: 64 MiB}}
otlp: {{grpc: off, http: "127.0.0.1:0"}}
gateway: {{files: ["*.log"], source: edge}}
http: {{address: "127.0.0.1:0"}}
log: {{format: json}}
""")
    site.request(5)
    with Running("up", "--spool-limit", "128 MiB", folder=site.folder, FAIRCLOCK_OTLP_HTTP="off") as up:
        message = json.loads(up.says("{.*answering on .*}\n")[0])["message"]
        url = message.removeprefix("answering on ")
        eventually(lambda: stored(url, "gateway") == 5, what=lambda: up.said)
        now = figures(url)
        assert now["fairclock_spool_limit_bytes"] == 128 << 20
        assert 'fairclock_newest_row_age_seconds{kind="gateway",source="edge"}' in now
        assert "receiving OTLP" not in up.said
    found = {path.name for path in (site.folder / "waiting").iterdir()}
    assert found - BESIDE_THE_SPOOL == {"delivered", "lock", "quarantine", "segments", "tails"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(
            ["gateway"],
            "collect gateway: no log is named; "
            "name one with --file PATH or --syslog-udp HOST:PORT, or under gateway in fairclock.yaml",
            id="nothing to follow",
        ),
        pytest.param(
            ["gateway", "--file", "a.log", "--to", "https://up.example"],
            "--to: needs a token; make one with fairclock tokens create --scope collector, and name its file with "
            "--token-file or put it into FAIRCLOCK_TOKEN",
            id="no token",
        ),
        pytest.param(
            ["gateway", "--file", "a.log", "--to", "http://up.example", "--token-file", "none"],
            "--to: the token would travel unencrypted (http://up.example); "
            "use https, or allow it with --plain-http where the network is trusted",
            id="no TLS",
        ),
        pytest.param(
            ["gateway", "--file", "a.log", "--to", "https://up.example", "--token-file", "none"],
            "none: the token cannot be read (No such file or directory); correct --token-file",
            id="no file with a token",
        ),
        pytest.param(
            ["gateway", "--file", "a.log", "--to", "https://up.example", "--dsn", "chdb:///x"],
            "--to: cannot go with --dsn; leave one of them out",
            id="two destinations",
        ),
        pytest.param(
            ["gateway", "--file", "a.log", "--spool-limit", "1 MB"],
            "--spool-limit: has no room for two segments (1 MB); write 32 MiB or more",
            id="too small a spool",
        ),
        pytest.param(
            ["otlp", "--grpc", "nowhere"],
            "--grpc: is not an address to listen on (nowhere); write 127.0.0.1:8780, [::1]:8780 or off",
            id="an address that is none",
        ),
        pytest.param(
            ["otlp", "--listen", "127.0.0.1:0", "--tls-certificate", "a.pem"],
            "http: needs both certificate and key, or none of them; write the one that is missing",
            id="a certificate without its key",
        ),
    ],
)
def test_what_cannot_be_is_one_sentence(tmp_path, words, said):
    done = subprocess.run(
        [sys.executable, "-m", "fairclock", "collect", *words],
        cwd=tmp_path,
        env=environment(XDG_DATA_HOME=str(tmp_path)),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1].endswith(said)
