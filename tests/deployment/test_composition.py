"""The compose files: what Compose accepts, and what a composition must not be without."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml
from compose_spec import PyCompose

from fairclock.cli.configuration import Configuration
from fairclock.config import parse_configuration
from fairclock.store.access.accounts import Shown, accounts
from fairclock.store.access.rendering import as_users_file
from sla.contracts import lint, load_contract
from tests.deployment.composition import Composition, mounts_of, read_composition, secrets_of
from tests.repository.test_packaging import PACKAGES

ROOT = Path(__file__).parents[2]
WHOLE = read_composition()
CLUSTER = read_composition("docker-compose.cluster.yml")
ENDS_BY_ITSELF = {"migrate", "model", "model-folder"}
SERVICES = {**CLUSTER["services"], **WHOLE["services"]}
IMAGES = pytest.mark.parametrize("service", SERVICES.values(), ids=list(SERVICES))
EVERY_SERVICE = IMAGES


def as_compose_reads(tree):
    """Return a tree as text without anchors; the reader knows no host-gateway, which Compose does."""
    return yaml.safe_dump(tree).replace("host-gateway", "192.0.2.1")


def merged():
    """Return both files as Compose merges them: maps by key, lists added."""

    def merge(first, second):
        if isinstance(first, dict) and isinstance(second, dict):
            return {
                name: merge(first[name], second[name])
                if name in first and name in second
                else first.get(name, second.get(name))
                for name in [*first, *(name for name in second if name not in first)]
            }
        if isinstance(first, list) and isinstance(second, list):
            return [*first, *second]
        return second

    tree = merge(WHOLE, CLUSTER)
    tree["services"]["migrate"]["command"] = CLUSTER["services"]["migrate"]["command"]
    return tree


@pytest.mark.parametrize("tree", [WHOLE, merged()], ids=["alone", "as a cluster"])
def test_a_reader_of_the_compose_specification_takes_the_file(tree):
    read = PyCompose.from_yaml(as_compose_reads(tree))
    assert set(read.service_names()) == set(tree["services"])


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        ({"services": {"a": {"image": "a:1", "comand": ["b"]}}}, "comand"),
        ({"services": {"a": {"image": "a:1", "restart": "sometimes"}}}, "restart"),
    ],
    ids=["a key that does not exist", "a value that does not exist"],
)
def test_a_file_that_compose_would_refuse_is_refused_here(broken, problem):
    with pytest.raises(ValueError, match=problem):
        PyCompose.from_yaml(yaml.safe_dump(broken))


def test_everything_that_was_asked_for_is_there():
    assert {
        "clickhouse", "migrate", "fairclock", "gateway", "vllm-cpu", "vllm-gpu", "prometheus", "alertmanager", "grafana",
    } <= set(WHOLE["services"])  # fmt: skip
    assert WHOLE["services"]["vllm-cpu"]["profiles"] == ["cpu"]
    assert WHOLE["services"]["vllm-gpu"]["profiles"] == ["gpu"]
    replicas = [each["environment"]["SHARD"] for each in CLUSTER["services"].values() if "SHARD" in each.get("environment", {})]  # fmt: skip
    assert sorted(replicas) == ["1", "1", "2", "2"]
    assert len([name for name in CLUSTER["services"] if name.startswith("keeper-")]) == 3


@EVERY_SERVICE
def test_a_service_is_pinned_limited_and_may_nothing(service):
    assert re.search(r":v?\d+\.\d+(\.\d+)?$", service["image"]), service["image"]
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", service["user"])
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "cap_add" not in service
    assert "privileged" not in service
    assert "no-new-privileges:true" in service["security_opt"]
    assert service["mem_limit"]
    assert service["cpus"]
    assert service["pids_limit"]
    assert "restart" in service


@pytest.mark.parametrize("name", [name for name in SERVICES if name not in ENDS_BY_ITSELF])
def test_a_service_that_stays_says_whether_it_is_well(name):
    check = SERVICES[name]["healthcheck"]
    assert check == {"disable": True} if name == "rotation" else check["test"][0] == "CMD"


@EVERY_SERVICE
def test_no_secret_stands_in_an_environment_or_a_command(service):
    variables = service.get("environment", {})
    named = {name for name in variables if re.search(r"PASSWORD|SECRET|TOKEN|DSN|KEY", name)}
    assert all(str(variables[name]).startswith("/run/secrets/") for name in named)
    assert not re.search(r"://[^/\s]*:[^/\s]*@", str(service))


@EVERY_SERVICE
def test_what_is_mounted_is_there_and_stays_as_it_is(service):
    for each in service.get("volumes", []):
        source, _, mode = each.split(":")[0], *each.split(":")[1:2], each.split(":")[-1]
        if source.startswith("."):
            assert mode == "ro", each
            assert (ROOT / source).exists(), each
        else:
            assert source in {**WHOLE["volumes"], **CLUSTER["volumes"]}


def test_secrets_and_networks_that_are_named_are_there(tmp_path):
    made = Composition(tmp_path)
    secrets = {**WHOLE["secrets"], **CLUSTER["secrets"]}
    asked = {name for service in SERVICES.values() for name, _ in secrets_of(service)}
    assert asked == set(secrets)
    assert all((made.folder / each["file"]).stat().st_size for each in secrets.values())
    assert (made.folder / "secrets").stat().st_mode & 0o777 == 0o700
    networks = {name for service in SERVICES.values() for name in service.get("networks", [])}
    assert networks == set(WHOLE["networks"])


def test_secrets_that_are_there_stay_as_they_are(tmp_path):
    made = Composition(tmp_path)
    before = {path.name: path.read_text() for path in (made.folder / "secrets").iterdir()}
    done = subprocess.run(
        ["bash", str(tmp_path / "scripts" / "compose-secrets")], capture_output=True, text=True, check=True
    )
    assert {path.name: path.read_text() for path in (made.folder / "secrets").iterdir()} == before
    assert done.stderr == ""
    assert len(set(before.values())) == len(before)


def test_only_what_speaks_to_the_store_is_in_its_network():
    within = {name for name, service in WHOLE["services"].items() if "store" in service.get("networks", [])}
    assert within == {"clickhouse", "migrate", "fairclock", "grafana"}
    assert WHOLE["networks"]["store"] == {"internal": True}
    published = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert all(port.startswith("127.0.0.1:") for port in published)


def test_fairclock_s_configuration_names_what_the_composition_mounts():
    path = ROOT / "deploy" / "compose" / "fairclock.yaml"
    settings = parse_configuration(path.read_bytes(), Configuration, where=str(path))
    service = WHOLE["services"]["fairclock"]
    inside = [target for _, _, target in mounts_of(service)] + [target for _, target in secrets_of(service)]
    named = [
        settings.store.dsn_file, settings.spool.directory, *settings.gateway.files, *settings.sla.contracts,
        *(each.secret_file for each in settings.webhooks.destinations),
    ]  # fmt: skip
    assert [path for path in named if not any(path.is_relative_to(each) for each in inside)] == []


def test_the_contract_of_the_composition_is_one_that_lint_has_nothing_against():
    for path in (
        ROOT / "deploy/compose/contracts/acme.yaml",
        ROOT / "deploy/kubernetes/configuration/acme.yaml",
    ):
        assert [str(finding) for finding in lint(load_contract(path))] == []


def test_clickhouse_s_users_are_those_that_fairclock_prints():
    """Write it anew with: fairclock migrate --accounts xml > deploy/clickhouse/users.d/fairclock.xml."""
    found = accounts("fairclock", Shown(views={}, contracts={}), [])
    text = (ROOT / "deploy" / "clickhouse" / "users.d" / "fairclock.xml").read_text()
    assert text == as_users_file(found, database="fairclock")
    start = (ROOT / "deploy" / "clickhouse" / "start.sh").read_text()
    (names,) = re.findall(r"^for account in (.+); do$", start, re.MULTILINE)
    assert set(re.findall(r'from_env="FAIRCLOCK_(\w+)_SHA256"', text)) == {
        name.upper() for name in names.split()
    }


def test_the_cluster_of_clickhouse_s_configuration_is_that_of_the_services():
    tree = ET.parse(ROOT / "deploy/clickhouse/cluster.d/cluster.xml").getroot()
    shards = [
        [host.text for host in shard.iter("host")]
        for shard in tree.find("remote_servers/fairclock").iter("shard")
    ]
    replicas = {
        each["environment"]["REPLICA"]: each["environment"]["SHARD"]
        for each in CLUSTER["services"].values()
        if "REPLICA" in each.get("environment", {})
    }
    assert {host: str(number) for number, hosts in enumerate(shards, 1) for host in hosts} == replicas
    keeper = ET.parse(ROOT / "deploy/clickhouse/keeper/keeper.xml").getroot()
    numbered = {
        server.findtext("hostname"): server.findtext("id") for server in keeper.iter("server") if server.find("id") is not None
    }  # fmt: skip
    assert numbered == {
        name: each["environment"]["KEEPER_ID"]
        for name, each in CLUSTER["services"].items()
        if name.startswith("keeper-")
    }
    assert {node.findtext("host") for node in tree.iter("node")} == set(numbered)


@pytest.mark.parametrize(
    "path", sorted((ROOT / "deploy" / "clickhouse").rglob("*.xml")), ids=lambda path: path.name
)
def test_a_file_of_clickhouse_s_is_whole(path):
    assert ET.parse(path).getroot().tag == "clickhouse"


def test_the_images_are_built_from_files_that_are_there():
    text = (ROOT / "Dockerfile").read_text()
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE)
    sources = {source for line in copied for source in line.split()}
    assert {source for source in sources if not (ROOT / source).exists()} == set()
    assert set(PACKAGES) <= sources


def test_the_images_run_as_nobody_and_the_last_stage_is_the_full_one():
    text = (ROOT / "Dockerfile").read_text()
    stages = re.findall(r"^FROM (\S+) AS (\S+)$", text, re.MULTILINE)
    known = {name for _, name in stages}
    assert [name for _, name in stages][-2:] == ["sidecar", "full"]
    assert all(re.search(r":\d+\.\d+\.\d+-", source) for source, _ in stages if source not in known)
    final = re.split(r"^FROM .* AS ", text, flags=re.MULTILINE)[-2:]
    assert all("\nUSER 1000:1000\n" in stage for stage in final)
    assert "FAIRCLOCK_DSN" not in text, "a variable would stand above store.dsn_file"


@pytest.mark.integration
def test_nginx_takes_the_gateway_s_configuration(tmp_path):
    made = Composition(tmp_path)
    made.prepare("gateway")
    program, *words = made.words("gateway")
    done = subprocess.run([program, "-t", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "syntax is ok" in done.stderr


@pytest.mark.integration
def test_nginx_takes_the_gateway_s_configuration_on_kubernetes(tmp_path):
    text = (ROOT / "deploy/kubernetes/configuration/nginx.conf").read_text()
    for folder in ("/etc/nginx", "/run/nginx", "/var/log/fairclock"):
        (tmp_path / folder.lstrip("/")).mkdir(parents=True)
        text = text.replace(f"{folder}/", f"{tmp_path}{folder}/")
    shutil.copytree(ROOT / "collectors" / "gateway" / "nginx", tmp_path / "etc/nginx/fairclock")
    path = tmp_path / "etc/nginx/gateway.conf"
    path.write_text(text)
    done = subprocess.run(
        ["nginx", "-t", "-c", str(path), "-e", "stderr"],
        env={**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.integration
def test_promtool_takes_configuration_and_rules(tmp_path):
    made = Composition(tmp_path)
    made.prepare("prometheus")
    folder = made.place("prometheus", "/etc/prometheus")
    for words in (
        ("check", "config", folder / "prometheus.yml"),
        ("check", "rules", *sorted(folder.glob("rules/*.yml"))),
    ):
        done = subprocess.run(["promtool", *map(str, words)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "lint error" not in done.stdout + done.stderr
    assert len(list(folder.glob("rules/*.yml"))) == 2


@pytest.mark.integration
def test_amtool_takes_the_configuration():
    path = ROOT / "deploy" / "alertmanager" / "alertmanager.yml"
    done = subprocess.run(["amtool", "check-config", str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
