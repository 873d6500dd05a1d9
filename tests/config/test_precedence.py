"""Flag above variable above file above default, in every command that asks the configuration."""

import contextlib
import threading

import click
import pytest
from click.testing import CliRunner

from fairclock.cli import _root
from fairclock.cli import collect as collect_module
from fairclock.cli.configuration import Configuration
from fairclock.cli.options import default_dsn, store_dsn
from fairclock.cli.overriding import overridden
from fairclock.errors import ConfigurationError, StoreUnreachable, UsageError

FILE = "clickhouse://a@127.0.0.1:1/file"
VARIABLE = "clickhouse://a@127.0.0.1:1/variable"
FLAG = "clickhouse://a@127.0.0.1:1/flag"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("FAIRCLOCK_DSN", "FAIRCLOCK_CONFIG", "FAIRCLOCK_TO"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def write(folder, text, name="fairclock.yaml"):
    (folder / name).write_text(text)


def test_the_store_s_address_in_a_file_stands_above_that_in_the_configuration(folder):
    (folder / "dsn").write_text(f"{VARIABLE}\n")
    write(folder, f"store: {{dsn: '{FILE}', dsn_file: dsn}}")
    assert store_dsn(None, None) == VARIABLE
    assert store_dsn(FLAG, None) == FLAG
    (folder / "dsn").unlink()
    with pytest.raises(ConfigurationError, match=r"the address cannot be read.*store\.dsn_file names"):
        store_dsn(None, None)


def test_where_the_store_is(folder, monkeypatch):
    assert store_dsn(None, None) == default_dsn()
    write(folder, f"store: {{dsn: '{FILE}'}}")
    assert store_dsn(None, None) == FILE
    write(folder, "store: {dsn: 'chdb:///elsewhere'}", "other.yaml")
    assert store_dsn(None, folder / "other.yaml") == "chdb:///elsewhere"
    monkeypatch.setenv("FAIRCLOCK_CONFIG", str(folder / "other.yaml"))
    assert store_dsn(None, None) == "chdb:///elsewhere"
    assert store_dsn(FLAG, folder / "none.yaml") == FLAG


CONTRACT = "examples/contracts/basic.yaml"
COMMANDS = [
    ["query", "SELECT 1"],
    ["evaluate"],
    ["migrate"],
    ["ingest", "gateway", "log"],
    ["ingest", "otlp", "log"],
    ["report", "contract.yaml", "--month", "2026-10"],
    ["tokens", "list"],
    ["alerts", "list"],
    ["alerts", "unsilence", "x"],
    ["tokens", "revoke", "x"],
    ["tokens", "create", "--scope", "admin", "--name", "x"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_that_needs_a_store_takes_it_from_there(folder, monkeypatch, pytestconfig, words):
    (folder / "log").write_text("{}\n")
    (folder / "contract.yaml").write_text((pytestconfig.rootpath / CONTRACT).read_text())

    def asked(*more):
        result = CliRunner().invoke(_root, [*words, *more])
        assert isinstance(result.exception, StoreUnreachable), result.output
        return result.exception.where.rpartition("/")[2]

    write(folder, f"store: {{dsn: '{FILE}'}}")
    assert asked() == "file"
    monkeypatch.setenv("FAIRCLOCK_DSN", VARIABLE)
    assert asked() == "variable"
    assert asked("--dsn", FLAG) == "flag"


@pytest.mark.parametrize(
    ("words", "variables", "file", "dsn"),
    [
        pytest.param([], {}, "{}", "default", id="nothing is the default store"),
        pytest.param([], {}, f"store: {{dsn: '{FILE}'}}", FILE, id="a store in the file"),
        pytest.param([], {}, "forward: {to: 'https://up'}", None, id="forwarding in the file"),
        pytest.param(
            [], {}, f"forward: {{to: 'https://up'}}\nstore: {{dsn: '{FILE}'}}", None, id="both in the file: forwarded"
        ),
        pytest.param(
            [], {"FAIRCLOCK_DSN": VARIABLE}, "forward: {to: 'https://up'}", VARIABLE, id="a variable beats the file"
        ),
        pytest.param(
            [], {"FAIRCLOCK_DSN": VARIABLE, "FAIRCLOCK_TO": "https://up"}, "{}", None, id="two variables: forwarded"
        ),
        pytest.param(
            ["--to", "https://up"], {"FAIRCLOCK_DSN": VARIABLE}, "{}", None, id="a flag beats a variable"
        ),
        pytest.param(
            ["--dsn", FLAG], {"FAIRCLOCK_TO": "https://up"}, "forward: {to: 'https://up'}", FLAG, id="the other flag, too"
        ),
    ],
)  # fmt: skip
def test_whether_a_collector_forwards_or_stores(*, folder, monkeypatch, words, variables, file, dsn):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    write(folder, file)
    given = {}

    class Ended:
        announcements = ()

        def wait(self, *_):
            return True

    @contextlib.contextmanager
    def running(settings, **parts):
        given.update(parts, settings=settings)
        yield Ended()

    @contextlib.contextmanager
    def stop_signal():
        yield threading.Event()

    monkeypatch.setattr(collect_module, "running", running)
    monkeypatch.setattr(collect_module, "stop_signal", stop_signal)
    monkeypatch.setattr("fairclock.cli.serving.start_logging", lambda **_: None)
    result = CliRunner().invoke(_root, ["collect", "gateway", "--file", "log", *words])
    assert result.exit_code == 0, result.output
    assert given["dsn"] == (default_dsn() if dsn == "default" else dsn)
    assert given["settings"].gateway.files == (folder / "log",)
    assert given["settings"].http.address == "off"


def test_a_sidecar_answers_where_the_file_says_so(folder, monkeypatch):
    given = []

    @contextlib.contextmanager
    def running(settings, **_):
        given.append(settings.http.address)
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(collect_module, "running", running)
    monkeypatch.setattr("fairclock.cli.serving.start_logging", lambda **_: None)
    write(folder, "http: {address: '127.0.0.1:9999'}")
    CliRunner().invoke(_root, ["collect", "otlp"])
    CliRunner().invoke(_root, ["collect", "otlp", "--listen", "127.0.0.1:1"])
    assert given == ["127.0.0.1:9999", "127.0.0.1:1"]


def test_flags_stand_in_their_places_and_what_was_not_given_stays():
    before = Configuration.model_validate({"otlp": {"source": "a"}, "gateway": {"files": ["/x"]}})
    after = overridden(
        before, {"gateway__syslog__udp": "127.0.0.1:514", "otlp__grpc": None, "gateway__files": ()}
    )
    assert after.gateway.syslog.udp == "127.0.0.1:514"
    assert (after.otlp.source, after.gateway.files) == ("a", before.gateway.files)
    assert overridden(before, {"otlp__grpc": None}) is before


def test_a_wrong_flag_is_called_by_its_name():
    @click.command
    @click.option("--syslog-udp", "gateway__syslog__udp")
    def command(**flags):
        overridden(Configuration(), flags)

    error = CliRunner().invoke(command, ["--syslog-udp", "everywhere"]).exception
    assert isinstance(error, UsageError)
    assert str(error).startswith("--syslog-udp: is not an address to listen on (everywhere); write")
