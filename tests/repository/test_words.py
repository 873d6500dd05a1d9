"""Own the checks of prose: commands that exist, links that lead somewhere, no address or path of one machine."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import click
import pytest

from fairclock.cli import _COMMANDS, _root
from fairclock.store import Query, open_store
from sla.contracts import lint, load_contract

ROOT = Path(__file__).parents[2]
READMES = ["README.md", "README.zh.md"]


def _tracked() -> list[Path]:
    answer = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True)
    return [ROOT / name for name in answer.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


def _texts() -> dict[str, str]:
    texts = {}
    for path in _tracked():
        try:
            texts[str(path.relative_to(ROOT))] = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:  # a picture, a compressed log
            continue
    return texts


def _pages() -> list[str]:
    return [name for name in _texts() if name.endswith(".md")]


def _code_lines(text: str) -> list[str]:
    """Return the lines of all fenced blocks, continued lines joined."""
    blocks = re.findall(r"^```[a-z]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in re.sub(r"\\\n\s*", " ", block).splitlines()]


def _calls(text: str) -> list[list[str]]:
    calls = []
    for line in _code_lines(text):
        words = shlex.split(line.strip().removeprefix("$ "), comments=True)
        if words and words[0].rpartition("/")[2] == "fairclock":
            calls.append(words[1:])
    return calls


def check_call(words: list[str]) -> None:
    """Follow the words through the groups and fail on a command, option or choice that does not exist."""
    command: click.Command = _root
    context = click.Context(command)
    while isinstance(command, click.Group):
        assert words, f"{command.name}: a subcommand is missing"
        found = command.get_command(context, words[0])
        assert found is not None, f"no such command: {words[0]}"
        command, words = found, words[1:]
    options = {
        name: p for p in command.params for name in (*p.opts, *p.secondary_opts) if name.startswith("-")
    }
    for place, word in enumerate(words):
        if not word.startswith("-") or word == "-":
            continue
        name, _, value = word.partition("=")
        assert name in options, f"{command.name}: no such option: {name}"
        kind = options[name].type
        if isinstance(kind, click.Choice):
            kind.convert(value or words[place + 1], options[name], context)


@pytest.mark.parametrize(
    "page",
    [*READMES, "docs/development.md", "docs/architecture.md", "docs/operations.md", "docs/webhooks.md"],
)
def test_every_command_line_on_a_page_can_be_typed(page: str) -> None:
    for words in _calls((ROOT / page).read_text()):
        check_call(words)


@pytest.mark.parametrize(
    "words", [["dance"], ["report", "c.yaml", "--moon", "2026-10"], ["contract", "sing"]]
)
def test_a_command_line_that_does_not_exist_is_noticed(words: list[str]) -> None:
    with pytest.raises(AssertionError, match="no such"):
        check_call(words)


@pytest.mark.parametrize("page", READMES)
@pytest.mark.parametrize("command", _COMMANDS)
def test_every_command_is_in_the_readme(command: str, page: str) -> None:
    assert f"`fairclock {command}" in (ROOT / page).read_text()


@pytest.mark.parametrize("page", READMES)
@pytest.mark.parametrize("code", [0, 1, 2, 3])
def test_every_exit_code_is_in_the_readme(code: int, page: str) -> None:
    assert re.search(rf"^\| `?{code}`? \|", (ROOT / page).read_text(), re.MULTILINE)


@pytest.mark.parametrize("page", READMES)
def test_every_make_target_named_in_a_readme_exists(page: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:`|^)make ([a-z-]+)", (ROOT / page).read_text(), re.MULTILINE))
    assert {"demo", "test", "live"} <= named <= targets


@pytest.mark.parametrize("page", _pages())
def test_every_link_leads_to_a_file_of_the_repository(page: str) -> None:
    folder = (ROOT / page).parent
    lost = []
    for target in re.findall(r"\]\(([^)\s]+)\)", (ROOT / page).read_text()):
        if re.match(r"[a-z]+:|#", target):
            continue
        path = (folder / target.partition("#")[0]).resolve()
        if not path.exists() or not path.is_relative_to(ROOT.resolve()):
            lost.append(target)
    assert lost == []


def test_the_contract_in_the_readme_is_one_that_lint_has_nothing_against(tmp_path: Path) -> None:
    match = re.search(r"^```yaml\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert match
    path = tmp_path / "acme-2026.yaml"
    path.write_text(match[1])
    assert [str(finding) for finding in lint(load_contract(path))] == []


def test_every_table_and_column_is_in_the_architecture(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| ((?:`\w+` ?)+) \|$", page, re.MULTILINE)
    described = {table: re.findall(r"`(\w+)`", columns) for table, columns in rows}
    with open_store(f"chdb://{tmp_path}") as store:
        found = store.rows(
            Query(
                sql="SELECT table, groupArray(name) FROM (SELECT table, name FROM system.columns"
                " WHERE database = currentDatabase() ORDER BY table, position) GROUP BY table"
            )
        )
    tables = {table: list(columns) for table, columns in found if not table.startswith("schema")}
    assert described == tables


def test_every_decision_is_in_the_index() -> None:
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text()
    assert [path.name for path in sorted(folder.glob("[0-9]*.md")) if f"({path.name})" not in index] == []


# Hosts that a page or a set-up file may name: this machine, placeholders, specifications, licences.
_HOSTS = re.compile(
    r"localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]|([\w-]+\.)*example(\.(com|org|net))?"
    r"|www\.w3\.org|json-schema\.org|www\.apache\.org|keepachangelog\.com|semver\.org|nginx\.org"
    r"|[\w-]*|[^\w\[].*"  # a name without a dot, or one that is filled in
)
# In code a specification may be cited by its address; a place to fetch packages from may not.
_REGISTRY = re.compile(
    r"(^|[.-])(pypi|pythonhosted|simple|index|registry|mirrors?|wheels?|packages|download)([.-]|$)"
)


def _hosts(text: str) -> set[str]:
    return set(re.findall(r"\bhttps?://(?:[^\s/@\"'`]*@)?([^\s/:\"'`\\),;>]*)", text))


def _foreign_hosts(name: str, text: str) -> set[str]:
    if name.endswith((".py", ".sql", ".html", ".css", ".conf")):
        return {host for host in _hosts(text) if _REGISTRY.search(host)}
    return {host for host in _hosts(text) if not _HOSTS.fullmatch(host)}


def test_no_file_names_a_host_to_download_from() -> None:
    foreign = {
        name: hosts
        for name, text in _texts().items()
        if not name.startswith("tests/") and (hosts := _foreign_hosts(name, text))
    }
    assert foreign == {}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Makefile", "get https://user:word@files.somewhere.io/simple"),
        ("docs/development.md", "see http://somewhere.io:8080"),
        ("sla/reports.py", '"https://mirror.somewhere.io/"'),
    ],
)
def test_a_host_to_download_from_would_be_noticed(name: str, text: str) -> None:
    assert len(_foreign_hosts(name, text)) == 1


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8123", "localhost/metrics", "acme.example", "engines", "$ENGINE", "{host}"]
)
def test_this_machine_and_placeholders_may_be_named(host: str) -> None:
    assert _foreign_hosts("README.md", f"see http://{host}") == set()


def test_no_file_names_the_folder_this_checkout_lies_in() -> None:
    names = [name for name, text in _texts().items() if re.search(rf"{re.escape(str(ROOT))}\b", text)]
    assert names == []


def test_no_file_names_a_home_or_a_folder_beside_the_repository() -> None:
    private = re.compile(r"/home/\w|/Users/\w|/root/|/tmp/\w|(?<![./])\.\./shared")
    names = {
        name for name, text in _texts().items() if not name.startswith("tests/") and private.search(text)
    }
    assert names == set()
