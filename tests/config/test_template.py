"""``fairclock init``: a file that changes nothing, and explains everything that could be changed."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from pydantic import BaseModel

from fairclock.cli.configuration import Configuration
from fairclock.cli.init import command
from fairclock.cli.overriding import overridden
from fairclock.config import parse_configuration
from fairclock.config.reference import reference
from fairclock.config.template import template
from fairclock.errors import UsageError

KEY = re.compile(r"^( *)# (\w+: .*)$", re.MULTILINE)


def read(text):
    return parse_configuration(text.encode(), Configuration, where="template")


def keys(model, path=""):
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from keys(inner, f"{path}{name}.")
        else:
            yield f"{path}{name}", field


def test_as_it_is_written_it_changes_nothing():
    assert read(template(Configuration)) == Configuration()


def test_with_every_key_taken_in_it_is_a_configuration():
    text = KEY.sub(r"\1\2", template(Configuration))
    given = read(text)
    assert given.spool.limit == Configuration().spool.limit
    assert given.forward.to == "https://fairclock.example:8780"
    assert all(
        getattr(given, section).model_fields_set == set(type(getattr(given, section)).model_fields)
        for section in Configuration.model_fields
    )


def test_an_option_above_it_leaves_everything_else_as_it_was_read():
    given = read(KEY.sub(r"\1\2", template(Configuration)))
    over = overridden(given, {"spool__limit": "33 MiB"})
    assert over.spool.limit == 33 << 20
    assert over.model_copy(update={"spool": given.spool}) == given


@pytest.mark.parametrize(("path", "field"), list(keys(Configuration)), ids=lambda each: str(each)[:40])
def test_every_key_says_what_it_is_about_and_stands_in_the_file(path, field):
    assert field.description
    assert field.description.endswith(".")
    assert f"# {path.rpartition('.')[2]}: " in template(Configuration)


def run(*words):
    return CliRunner().invoke(command, [*words, "--no-look"])


def test_a_file_that_is_there_is_not_written_over(tmp_path):
    path = tmp_path / "fairclock.yaml"
    assert run(str(path)).exit_code == 0
    assert path.read_text() == template(Configuration) == run("-").stdout
    again = run(str(path)).exception
    assert isinstance(again, UsageError)
    assert str(again) == f"{path}: is there already; name another file, or - to see what would be written"
    assert "cannot be written (No such file or directory)" in str(run(str(tmp_path / "no" / "x")).exception)


def test_the_page_on_configuration_is_that_of_the_models():
    """Write it anew with: python docs/make_configuration.py."""
    page = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text()
    assert page == reference(Configuration)


@pytest.mark.parametrize(("path", "field"), list(keys(Configuration)), ids=lambda each: str(each)[:40])
def test_every_key_stands_on_the_page_under_its_section(path, field):
    section, _, name = path.rpartition(".")
    page = reference(Configuration)
    rows = page.partition(f" `{section}`\n")[2].partition("\n#")[0]
    assert re.search(rf"^\| `{name}` \| \S", rows, re.MULTILINE)
