"""``fairclock.yaml``: found where it should be, read as a whole, every problem said at once with its place."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fairclock.cli.configuration import Configuration
from fairclock.config import find_file, load_configuration, parse_configuration
from fairclock.errors import ConfigurationError

HERE = Path("/srv/fairclock")


def read(text):
    return parse_configuration(text.encode(), Configuration, where="fairclock.yaml", folder=HERE)


def problems(text):
    with pytest.raises(ConfigurationError) as caught:
        read(text)
    return str(caught.value).splitlines()


@pytest.mark.parametrize(
    "text",
    ["", "# nothing\n", "{}\n", "store:\nhttp: null\n"],
    ids=["empty", "a comment", "an empty mapping", "sections with nothing in them"],
)
def test_a_file_that_says_nothing_is_the_defaults(text):
    assert read(text) == Configuration() == load_configuration(None, Configuration)


def test_every_section_is_read():
    given = read("""
store: {dsn: "clickhouse://user:secret@db:8123/fairclock"}
spool: {directory: spool, limit: 1.5 GiB}
otlp: {grpc: off, http: "[::1]:4318", source: engines}
gateway: {files: [/var/log/nginx/*.log, more/a.log], source: edge, syslog: {udp: "127.0.0.1:5140"}}
forward: {to: "https://up.example:8780/", token_file: /etc/fairclock/token, ca: ca.pem, plain_http: true}
http: {address: "0.0.0.0:8780", certificate: up.pem, key: up.key}
log: {format: json, level: warning}
""")
    assert given.store.dsn == "clickhouse://user:secret@db:8123/fairclock"
    assert (given.spool.directory, given.spool.limit) == (HERE / "spool", 3 << 29)
    assert (given.otlp.grpc, given.otlp.http, given.otlp.source) == ("off", "[::1]:4318", "engines")
    assert given.gateway.files == (Path("/var/log/nginx/*.log"), HERE / "more/a.log")
    assert (given.gateway.source, given.gateway.syslog.udp, given.gateway.syslog.tcp) == (
        "edge",
        "127.0.0.1:5140",
        "off",
    )
    assert (given.forward.to, given.forward.ca) == ("https://up.example:8780", HERE / "ca.pem")
    assert (given.forward.token_file, given.forward.plain_http) == (Path("/etc/fairclock/token"), True)
    assert (given.http.certificate, given.http.key) == (HERE / "up.pem", HERE / "up.key")
    assert (given.log.format, given.log.level) == ("json", "warning")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(
            "spool:\n  limt: 1 GiB\n",
            "line 2, spool.limt: is not a key of the configuration; did you mean limit?",
            id="a key that is nearly right is corrected",
        ),
        pytest.param(
            "queue: {}\n",
            "line 1, queue: is not a key of the configuration; the keys here are "
            "store, spool, otlp, gateway, vllm, gpu, forward, sla, reports, billing, probe, webhooks, mail, http, metrics, otlp_export, console, log",
            id="a key that is nowhere near gets the list",
        ),
        pytest.param(
            "spool:\n  limit: plenty\n",
            "line 2, spool.limit: is not an amount of bytes (plenty); write 512 MiB or 2 GB",
            id="an amount without a number",
        ),
        pytest.param(
            "spool: {limit: 1 MB}\n",
            "line 1, spool.limit: has no room for two segments (1 MB); write 32 MiB or more",
            id="a spool that could not work",
        ),
        pytest.param(
            "otlp: {http: 4318}\n",
            "line 1, otlp.http: is not an address to listen on (4318); write 127.0.0.1:8780, [::1]:8780 or off",
            id="a port without a host",
        ),
        pytest.param(
            "http: {address: 'localhost:99999'}\n",
            "line 1, http.address: is not an address to listen on (localhost:99999); "
            "write 127.0.0.1:8780, [::1]:8780 or off",
            id="a port that there is not",
        ),
        pytest.param(
            "http: {certificate: a.pem}\n",
            "line 1, http: needs both certificate and key, or none of them; write the one that is missing",
            id="a certificate without its key",
        ),
        pytest.param(
            "store: {dsn: 'clickhouse://user:hunter2@:x/db'}\n",
            "line 1, store.dsn: the port is not a number; "
            "write chdb:///var/lib/fairclock or clickhouse://user:password@host:8123/fairclock",
            id="an address of a store, without the password in the message",
        ),
        pytest.param(
            "forward: {to: 'https://user:pass@up:1'}\n",
            "line 1, forward.to: not the address of fairclock up (https://user:pass@up:1); "
            "write https://fairclock.example:8780",
            id="an address to forward to that holds a user",
        ),
        pytest.param(
            "log: {format: xml}\n",
            "line 1, log.format: is none of its choices (xml); write 'text' or 'json'",
            id="a choice that there is not",
        ),
        pytest.param(
            "gateway:\n  files: /var/log/a.log\n",
            "line 2, gateway.files: is not of the right kind (/var/log/a.log); write a list: [first, second]",
            id="one file that is not in a list",
        ),
        pytest.param(
            "forward: {plain_http: perhaps}\n",
            "line 1, forward.plain_http: is not of the right kind (perhaps); write true or false",
            id="neither true nor false",
        ),
        pytest.param(
            "otlp:\n  source:\n",
            "line 2, otlp.source: has no value; write one, or take the key away",
            id="a key without a value",
        ),
        pytest.param(
            "spool: 2 GiB\n",
            "line 1, spool: is not of the right kind (2 GiB); write keys and values below it",
            id="a value where keys should be",
        ),
        pytest.param(
            "log: {level: info}\nlog: {level: debug}\n",
            "line 2, log: is written twice (line 1 too); keep one of them",
            id="a section written twice",
        ),
        pytest.param(
            "log: {level: !!python/name:os.system x}\n",
            "line 1, log.level: carries a YAML tag (tag:yaml.org,2002:python/name:os.system); take it away",
            id="a tag",
        ),
        pytest.param(
            "gateway: {files: ['']}\n",
            "line 1, gateway.files[0]: is empty; write the path of a file or folder",
            id="a path of nothing",
        ),
        pytest.param(
            "? [a, b]\n: 1\n",
            "line 1, the file: has a key that is not a word; write a word",
            id="a key of two",
        ),
    ],
)
def test_a_problem_has_its_line_its_path_and_a_remedy(text, said):
    assert f"  {said}" in problems(text)


def test_all_problems_are_said_at_once_in_the_order_of_the_file():
    assert problems("log: {level: loud}\nspool: {limit: x}\nnothing: 1\n")[0] == "fairclock.yaml: 3 problems"
    assert [
        line.split(",")[0].strip() for line in problems("log: {level: loud}\nspool: {limit: x}\nno: 1\n")
    ][1:] == ["line 1", "line 2", "line 3"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(b"- a\n- b\n", "does not consist of keys and values", id="a list"),
        pytest.param(b"a: [\n", "line 2: this is not YAML", id="no YAML"),
        pytest.param(b"\xff\xfe\x00", "not UTF-8", id="no UTF-8"),
        pytest.param(b"a: \x00\n", "binary", id="binary"),
        pytest.param(b"log: &a {level: *a}\n", "holds itself", id="an alias in itself"),
        pytest.param(b"#" * (2 << 20), "larger than 1 MiB", id="far too large"),
    ],
)
def test_a_file_that_is_no_configuration_is_one_sentence(content, said):
    with pytest.raises(ConfigurationError, match=said):
        parse_configuration(content, Configuration, where="fairclock.yaml")


def test_a_file_that_is_named_must_be_there(tmp_path):
    with pytest.raises(ConfigurationError, match=r"there is no such file; correct --config"):
        load_configuration(tmp_path / "none.yaml", Configuration)


def test_a_folder_cannot_be_read(tmp_path):
    with pytest.raises(ConfigurationError, match=r"the file cannot be read \(Is a directory\)"):
        load_configuration(tmp_path, Configuration)


def test_where_the_file_is_looked_for(tmp_path):
    here, variable = tmp_path / "fairclock.yaml", {"FAIRCLOCK_CONFIG": "/etc/fairclock.yaml"}
    assert find_file(None, environment={}, folder=tmp_path) is None
    here.touch()
    assert find_file(None, environment={}, folder=tmp_path) == here
    assert find_file(None, environment=variable, folder=tmp_path) == Path("/etc/fairclock.yaml")
    assert find_file(Path("named"), environment=variable, folder=tmp_path) == Path("named")


def test_a_folder_that_may_not_be_looked_into_is_a_sentence(tmp_path, monkeypatch):
    def refuse(path, **_):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "exists", refuse)
    with pytest.raises(
        ConfigurationError, match=r"this user may not look for it here; name the file with --config"
    ):
        find_file(None, environment={}, folder=tmp_path)


TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["store", "spool", "dsn", "limit", "gateway", "files", "http", "key", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(TREES)
def test_whatever_the_file_holds_it_is_a_configuration_or_one_error(tree):
    said = "fairclock.yaml: "
    try:
        read(yaml.safe_dump(tree, allow_unicode=True))
    except ConfigurationError as error:
        said = str(error)
    assert said.startswith("fairclock.yaml: ")
