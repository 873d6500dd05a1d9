"""docker-compose.yml read as Compose reads it, and its services run as plain processes on loopback.

A service's command, environment, files and health check are those of the file. What a container would give it is given
otherwise: each service has a folder in place of its root file system, with its mounts in their places, and a free
port in place of each of its ports. Names of folders, hosts and ports are replaced in commands, variables and files.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

from fairclock.demo.live.programs import Program, find_nginx, find_vllm_python, free_port, running

ROOT = Path(__file__).parents[2]
COMPOSE = "docker-compose.yml"
_VARIABLE = re.compile(r"\$\$|\$\{(?P<name>\w+)(?::-(?P<default>[^}]*))?\}")
_LOOPBACK = re.compile(r"(?:0\.0\.0\.0|127\.0\.0\.1):(\d+)")
_PATIENCE_SECONDS = 300.0


def interpolated(value, variables=None):
    """Return a value of a compose file with its variables put in; one without a default has to be given."""
    if isinstance(value, dict):
        return {name: interpolated(each, variables) for name, each in value.items()}
    if isinstance(value, list):
        return [interpolated(each, variables) for each in value]
    if not isinstance(value, str):
        return value

    def put_in(match):
        if match[0] == "$$":
            return "$"
        given = (variables or {}).get(match["name"], match["default"])
        assert given is not None, f"{match['name']} has no default"
        return given

    return _VARIABLE.sub(put_in, value)


def read_composition(name=COMPOSE, **variables):
    """Return a compose file as a tree, anchors and variables resolved."""
    return interpolated(yaml.safe_load((ROOT / name).read_text()), variables)


def words_of(value):
    """Return what starts a process; only lists are used, so that no shell reads them."""
    assert value is None or isinstance(value, list), value
    return list(value or [])


def mounts_of(service):
    """Return a service's mounts as (kind, source, target), kind one of bind, volume, tmpfs."""
    found = [("tmpfs", "", each.partition(":")[0]) for each in service.get("tmpfs", [])]
    for each in service.get("volumes", []):
        source, target = each.split(":")[:2]
        found.append(("bind" if source.startswith(".") else "volume", source, target))
    return found


def secrets_of(service):
    """Return a service's secrets as (name, path in the container)."""
    found = []
    for each in service.get("secrets", []):
        given = {"source": each} if isinstance(each, str) else each
        target = given.get("target", given["source"])
        found.append((given["source"], target if target.startswith("/") else f"/run/secrets/{target}"))
    return found


class Composition:
    """The services of docker-compose.yml, each with a folder under `folder`."""

    def __init__(self, folder, *, changed=None):
        """Make the secrets; `changed` maps names of them to other contents."""
        self.folder = folder
        self.tree = read_composition()
        self.services = self.tree["services"]
        self._ports = {}
        (folder / "scripts").mkdir()
        script = Path(shutil.copy(ROOT / "scripts" / "compose-secrets", folder / "scripts"))
        subprocess.run(["bash", str(script)], check=True, capture_output=True)
        for name, content in (changed or {}).items():
            self.secret_file(name).unlink()
            self.secret_file(name).write_text(content)
        self.names = {
            alias: name
            for name, service in self.services.items()
            for alias in [name, *_aliases(service)]
            if "gpu" not in service.get("profiles", [])
        }

    def secret_file(self, name):
        return self.folder / self.tree["secrets"][name]["file"]

    @property
    def api_key(self):
        return (self.folder / "secrets" / "api_key").read_text().strip()

    def port(self, service, container_port):
        """Return the port on loopback that stands for a service's port."""
        return self._ports.setdefault((self.names[service], int(container_port)), free_port())

    def url(self, service, container_port):
        return f"http://127.0.0.1:{self.port(service, container_port)}"

    def place(self, service, path):
        """Return where a path of the container lies here."""
        return self.folder / "services" / service / path.lstrip("/")

    def rewritten(self, service, text):
        """Return a text with folders, hosts and ports of containers replaced by those of this machine."""
        targets = {target for _, _, target in mounts_of(self.services[service])}
        targets |= {target for _, target in secrets_of(self.services[service])}
        folders = "|".join(map(re.escape, sorted(targets, key=len, reverse=True)))
        text = re.sub(
            rf"(?<![\w/.-])({folders})(?![\w.-])", lambda match: str(self.place(service, match[1])), text
        )
        text = _LOOPBACK.sub(lambda match: f"127.0.0.1:{self.port(service, match[1])}", text)
        hosts = "|".join(map(re.escape, sorted(self.names, key=len, reverse=True)))
        return re.sub(
            rf"(?<![\w.-])({hosts}):(\d+)",
            lambda match: f"127.0.0.1:{self.port(match[1], match[2])}",
            text,
        )

    def prepare(self, service, *, change=None):
        """Make a service's folder with its mounts; `change` is a function of a file's name and text."""
        changed = change or (lambda _, text: text)
        definition = self.services[service]
        for kind, source, target in sorted(mounts_of(definition), key=lambda each: len(each[2])):
            place = self.place(service, target)
            place.parent.mkdir(parents=True, exist_ok=True)
            if kind == "bind":
                self._copy(service, ROOT / source, place, changed)
            elif kind == "tmpfs":
                place.mkdir(exist_ok=True)
            else:
                volume = self.folder / "volumes" / source
                volume.mkdir(parents=True, exist_ok=True)
                if not place.is_symlink():
                    place.symlink_to(volume)
        for name, target in secrets_of(definition):
            place = self.place(service, target)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.unlink(missing_ok=True)
            place.write_text(self.secret_file(name).read_text())

    def _copy(self, service, source, place, changed):
        for path in [source] if source.is_file() else sorted(source.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                target = place if path == source else place / path.relative_to(source)
                self._write(service, target, path.read_text(), changed)

    def _write(self, service, path, text, changed):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(changed(path.name, self.rewritten(service, text)))

    def words(self, service):
        """Return what starts a service, its program found on this machine."""
        definition = self.services[service]
        entrypoint = words_of(definition.get("entrypoint")) or image_entrypoint(definition["image"])
        program, *rest = [*entrypoint, *words_of(definition.get("command"))]
        words = [self.rewritten(service, word) for word in rest]
        words = [
            re.sub(r"^--port=(\d+)$", lambda match: f"--port={self.port(service, match[1])}", word)
            for word in words
        ]
        words = ["--host=127.0.0.1" if word == "--host=0.0.0.0" else word for word in words]
        return [*_program(program), *words]

    def program(self, service):
        """Return a service as a process to run; its output goes to a file of its name."""
        variables = {
            name: self.rewritten(service, str(value))
            for name, value in self.services[service].get("environment", {}).items()
        }
        kept = {name: value for name, value in os.environ.items() if not name.startswith("FAIRCLOCK_")}
        return Program(
            name=service,
            arguments=["env", "-C", str(ROOT), *self.words(service)],
            output=self.output(service),
            environment={**dict.fromkeys(set(os.environ) - set(kept), ""), **variables, **_HERE},
            stop_seconds=30.0,
        )

    def output(self, service):
        return self.folder / f"{service}.log"

    def said(self, service):
        return self.output(service).read_text(errors="replace")

    @contextlib.contextmanager
    def running(self, service, *, change=None):
        """Run a service until the block is left, from when its health check holds."""
        self.prepare(service, change=change)
        with running(self.program(service)) as process:
            process.await_answer(self.health_url(service), within_seconds=_PATIENCE_SECONDS)
            yield

    def run(self, service, *, change=None):
        """Run a service that ends by itself."""
        self.prepare(service, change=change)
        with running(self.program(service)) as started:
            code = started.process.wait(_PATIENCE_SECONDS)
        assert code == 0, self.said(service)

    def health_url(self, service):
        """Return what a service's health check asks for."""
        test = " ".join(self.services[service]["healthcheck"]["test"])
        return self.rewritten(service, re.search(r"http://[^\s'\"]+", test)[0])


_HERE = {
    "NO_PROXY": "127.0.0.1",
    "no_proxy": "127.0.0.1",
    "PYTHONPATH": str(ROOT),
    # what vLLM finds out of a model's class, in a process of its own that imports torch once more, it keeps there
    "VLLM_CACHE_ROOT": str(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "vllm"),
}


def image_entrypoint(image):
    """Return what an image starts where the compose file says nothing: Fairclock's is in the Dockerfile."""
    assert image.startswith("fairclock:"), f"{image}: say its entrypoint in the compose file"
    (line,) = set(re.findall(r"^ENTRYPOINT \[(.*)\]$", (ROOT / "Dockerfile").read_text(), re.MULTILINE))
    return [word.strip('"') for word in line.split(", ")]


def _program(name):
    if name == "fairclock":
        return [sys.executable, "-m", "fairclock"]
    if name == "python":
        return [sys.executable]
    if name == "python3":
        return [str(find_vllm_python(None))]
    if name == "nginx":
        return [find_nginx()]
    # Debian calls it prometheus-alertmanager
    found = shutil.which(name) or shutil.which(f"prometheus-{name}")
    assert found, f"{name} is missing: scripts/debian-packages test installs it"
    return [found]


def _aliases(service):
    networks = service.get("networks")
    if not isinstance(networks, dict):
        return []
    return [alias for network in networks.values() for alias in (network or {}).get("aliases", [])]
