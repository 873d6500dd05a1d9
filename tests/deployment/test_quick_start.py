"""The quick start: its commands can be typed, its files are there, and both languages say the same."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from fairclock.cli.configuration import Configuration
from fairclock.config import parse_configuration
from fairclock.config.template import template
from tests.deployment.composition import read_composition
from tests.repository.test_words import check_call

ROOT = Path(__file__).parents[2]
PAGES = {name: (ROOT / "docs" / name).read_text() for name in ("quick-start.md", "quick-start.zh.md")}
DEPLOYMENT = (ROOT / "docs" / "deployment.md").read_text()


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def commands(text):
    """Return the words of each line of shell, without sudo and whom it is for, comments left out."""
    for block in blocks(text, "sh"):
        for line in re.sub(r"\\\n\s*", " ", block).splitlines():
            words = shlex.split(line.removesuffix("&"), comments=True)
            if words[:1] == ["sudo"]:
                words = words[3:] if words[1] == "-u" else words[1:]
            if words:
                yield words


def test_both_languages_have_the_same_commands():
    english, chinese = PAGES.values()
    assert blocks(english, "sh") == blocks(chinese, "sh")
    assert blocks(english, "text") == blocks(chinese, "text")
    without_comments = [re.sub(r"#.*", "", "".join(blocks(page, "nginx"))) for page in PAGES.values()]
    assert without_comments[0] == without_comments[1]


@pytest.mark.parametrize("words", [each for each in commands(PAGES["quick-start.md"]) if each[0] == "fairclock"], ids=" ".join)  # fmt: skip
def test_a_command_of_the_quick_start_can_be_typed(words):
    check_call(words[1:])


@pytest.mark.parametrize(
    "line",
    [line for block in blocks(DEPLOYMENT, "sh") for line in re.sub(r"\\\n\s*", " ", block).splitlines() if " fairclock fairclock " in line or "-- fairclock" in line],
    ids=lambda line: line[:40],
)  # fmt: skip
def test_a_command_in_a_container_can_be_typed(line):
    words = shlex.split(line, comments=True)
    check_call(words[len(words) - words[::-1].index("fairclock") :])


def test_what_only_fairclock_may_read_is_read_as_fairclock():
    """Its folders have mode 750: whoever follows the page is somebody else, and not root."""
    lines = [
        line
        for block in blocks(PAGES["quick-start.md"], "sh")
        for line in re.sub(r"\\\n\s*", " ", block).splitlines()
    ]
    assert any("-m 750 /var/lib/fairclock /etc/fairclock" in line for line in lines)
    own = [line for line in lines if re.search(r"/etc/fairclock/\w|/var/lib/fairclock/\w", line)]
    assert own
    assert [line for line in own if not line.startswith("sudo ")] == []


def test_files_that_are_copied_are_there():
    text = PAGES["quick-start.md"] + DEPLOYMENT
    copied = re.findall(r"^sudo cp (?:-r )?(\S+)", text, re.MULTILINE)
    assert copied
    assert [each for each in copied if not list(ROOT.glob(each))] == []


def test_the_edits_of_the_configuration_do_what_they_say():
    text = template(Configuration)
    for line in re.findall(r"sed -i '(s\|[^']*)'", PAGES["quick-start.md"]):
        _, old, new, _ = line.split("|")
        text, count = re.subn(old, new, text)
        assert count == 1, f"{old} is there {count} times"
    read = parse_configuration(text.encode(), Configuration, where="file")
    assert read.store.address == "chdb:///var/lib/fairclock"
    assert read.sla.contracts == (Path("/etc/fairclock/acme.yaml"),)


def test_the_services_that_stay_are_said_on_the_page():
    assert [name for name in read_composition()["services"] if f"`{name}`" not in DEPLOYMENT] == []
