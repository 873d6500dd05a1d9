"""``fairclock tokens`` as a command on a real store: made, listed, revoked, and nowhere to be found in the files."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


class Tokens:
    def __init__(self, folder):
        self.folder = folder
        self.dsn = f"chdb://{folder}/store"

    def __call__(self, *words, code=0):
        done = subprocess.run(
            [sys.executable, "-m", "fairclock", "tokens", *words],
            env={**os.environ, "FAIRCLOCK_DSN": self.dsn},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == code, done.stderr
        return done


@pytest.fixture
def tokens(tmp_path):
    return Tokens(tmp_path)


def test_a_token_is_shown_once_and_kept_nowhere(tokens):
    made = tokens("create", "--scope", "collector", "--name", "gw-1")
    text = made.stdout.strip()
    assert text.startswith("fct_")
    token_id = text.split("_")[1]
    assert f"{token_id}: keep it now, it is not shown again" in made.stderr
    listed = tokens("list").stdout
    assert token_id in listed
    assert "collector" in listed
    assert "gw-1" in listed
    secret = text.split("_", 2)[2]
    assert secret not in listed
    holding = [
        path
        for path in Path(tokens.folder).rglob("*")
        if path.is_file() and secret.encode() in path.read_bytes()
    ]
    assert holding == []


def test_a_name_that_several_have_must_be_an_id_and_what_is_revoked_stays_listed(tokens):
    first, second = (
        json.loads(
            tokens("create", "--scope", "tenant", "--tenant", "acme", "--name", "acme", "--json").stdout
        )
        for _ in range(2)
    )
    refused = tokens("revoke", "acme", code=2)
    assert refused.stderr == (
        "acme: several tokens in force are called so; name it by its id: see fairclock tokens list\n"
    )
    assert f"{first['id']} (acme) is revoked" in tokens("revoke", first["id"]).stderr
    assert f"{second['id']} (acme) is revoked" in tokens("revoke", "acme").stderr
    listed = json.loads(tokens("list", "--json").stdout)
    assert {each["id"] for each in listed} == {first["id"], second["id"]}
    assert all(each["revoked_at"] and each["tenant"] == "acme" for each in listed)
    assert "no token in force" in tokens("revoke", "acme", code=2).stderr


def test_a_choice_that_there_is_not_is_refused_before_a_store_is_made(tokens):
    tokens("create", "--scope", "root", "--name", "x", code=2)
    tokens("create", "--scope", "tenant", "--name", "x", code=2)
    assert not Path(tokens.folder, "store").exists()
