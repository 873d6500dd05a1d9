"""``fairclock doctor`` on a machine with a store, an `up`, a sidecar: everything found, nothing changed."""

import json
import subprocess
import sys

import pytest

from tests.sidecar.running import ANSWERING, Running, environment, fairclock


def doctor(folder, *words, **variables):
    done = subprocess.run(
        [sys.executable, "-m", "fairclock", "doctor", "--json", *words],
        cwd=folder,
        env=environment(XDG_DATA_HOME=str(folder / "data"), **variables),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    answer = json.loads(done.stdout) if done.stdout else {"checks": []}
    return done.returncode, {each["check"]: each for each in answer["checks"]}, done.stderr


def write(folder, text):
    (folder / "fairclock.yaml").write_text(text)


def test_before_anything_was_done_it_makes_nothing(tmp_path):
    write(tmp_path, "otlp: {grpc: 'off', http: 'off'}\nhttp: {address: 'off'}\n")
    code, checks, stderr = doctor(tmp_path)
    assert (code, stderr) == (0, "")
    assert checks["configuration"]["detail"] == str(tmp_path / "fairclock.yaml")
    assert "its first use makes it" in checks["store"]["detail"]
    assert {"clock", "fonts", "spool", "store's disk"} <= set(checks)
    assert [path.name for path in tmp_path.iterdir()] == ["fairclock.yaml"]


def test_beside_up_and_at_a_sidecar(tmp_path):
    dsn = f"chdb://{tmp_path}/store"
    site, edge = tmp_path / "site", tmp_path / "edge"
    site.mkdir(), edge.mkdir()
    with Running(
        "up", "--listen", "127.0.0.1:0", "--grpc", "off", "--http", "off", folder=site, FAIRCLOCK_DSN=dsn
    ) as up:
        url = up.says(ANSWERING)[1]
        write(
            site,
            f"store: {{dsn: '{dsn}'}}\nhttp: {{address: '{url[7:]}'}}\notlp: {{grpc: 'off', http: 'off'}}\n",
        )
        code, checks, _ = doctor(site)
        assert code == 0
        assert "served by another process" in checks["store"]["detail"]
        assert checks["schema"]["detail"].endswith("current")
        assert checks["http.address"]["detail"] == f"{url[7:]}, in use; a Fairclock runs already"

        write(
            edge, f"forward: {{to: '{url}'}}\nhttp: {{address: 'off'}}\notlp: {{grpc: 'off', http: 'off'}}\n"
        )
        tokens = {
            scope: fairclock("tokens", "create", "--scope", scope, "--name", scope, FAIRCLOCK_DSN=dsn)
            for scope in ("collector", "operator")
        }
        code, checks, _ = doctor(edge, FAIRCLOCK_TOKEN=tokens["collector"])
        assert (code, checks["forward.to"]["detail"]) == (0, f"{url} takes frames")
        assert "store" not in checks
        code, checks, _ = doctor(edge, FAIRCLOCK_TOKEN=tokens["operator"])
        assert (code, checks["forward.to"]["state"]) == (1, "error")
        assert "another scope than collector" in checks["forward.to"]["detail"]
        assert "fairclock tokens create --scope collector" in checks["forward.to"]["remedy"]


@pytest.mark.parametrize("words", [[], ["--dsn", "clickhouse://a:hunter2@127.0.0.1:1/x"]])
def test_a_store_that_is_away_is_an_error_without_its_password(tmp_path, words):
    variables = {} if words else {"FAIRCLOCK_DSN": "clickhouse://a:hunter2@127.0.0.1:1/x"}
    code, checks, stderr = doctor(tmp_path, *words, **variables)
    assert code == 1
    assert checks["store"]["state"] == "error"
    assert "Connection refused" in checks["store"]["detail"]
    assert "hunter2" not in json.dumps(checks) + stderr


def test_a_configuration_that_cannot_be_read_is_all_there_is_to_say(tmp_path):
    write(tmp_path, "spol: {}\n")
    code, checks, stderr = doctor(tmp_path)
    assert (code, checks) == (2, {})
    assert "line 1, spol: is not a key of the configuration; did you mean spool?" in stderr
