"""The Kustomize base: what Kubernetes' own schemas say of it, and that what names each other is there."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import kubernetes_validate
import pytest
import yaml

from fairclock.cli.configuration import Configuration
from fairclock.config import parse_configuration

FOLDER = Path(__file__).parents[2] / "deploy" / "kubernetes"
KUSTOMIZATION = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())
OBJECTS = [
    each
    for name in KUSTOMIZATION["resources"]
    for each in yaml.safe_load_all((FOLDER / name).read_text())
    if each
]
SCHEMAS = "1.33"
# Made of the operator's definition of a PodMonitor (monitoring.coreos.com/v1), as far as it is used here.
POD_MONITOR_KEYS = {"selector", "podMetricsEndpoints", "namespaceSelector", "jobLabel", "sampleLimit"}
ENDPOINT_KEYS = {
    "port",
    "path",
    "interval",
    "scrapeTimeout",
    "scheme",
    "authorization",
    "relabelings",
    "metricRelabelings",
}
# What an operator brings; docs/deployment.md says how.
SECRETS = {
    "fairclock-store-owner": {"dsn"},
    "fairclock-store": {"dsn"},
    "fairclock-webhooks": {"url", "secret"},
    "fairclock-metrics": {"token"},
    "fairclock-token": {"token"},
    "fairclock-tenants": {"tenants.map"},
}


def name_of(each):
    return f"{each['kind']} {each['metadata']['name']}"


def pods():
    """Yield each pod's template with the object that makes it."""
    for each in OBJECTS:
        spec = each.get("spec", {})
        if each["kind"] == "CronJob":
            spec = spec["jobTemplate"]["spec"]
        if "template" in spec:
            yield each, spec["template"]


PODS = [pytest.param(template, id=name_of(each)) for each, template in pods()]
CONTAINERS = [
    pytest.param(template["spec"], container, id=f"{name_of(each)}: {container['name']}")
    for each, template in pods()
    for container in [*template["spec"].get("initContainers", []), *template["spec"]["containers"]]
]


def of_kind(kind):
    return {each["metadata"]["name"]: each for each in OBJECTS if each["kind"] == kind}


@pytest.mark.parametrize("each", [each for each in OBJECTS if each["kind"] != "PodMonitor"], ids=name_of)
def test_an_object_fits_the_schema_of_its_kind(each):
    kubernetes_validate.validate(each, SCHEMAS, strict=True)


def test_an_object_with_a_key_that_does_not_exist_is_refused():
    broken = {**of_kind("Service")["vllm"], "spec": {"portz": []}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, SCHEMAS, strict=True)


@pytest.mark.parametrize("each", of_kind("PodMonitor").values(), ids=name_of)
def test_a_pod_monitor_fits_what_the_operator_knows_and_names_ports_that_pods_have(each):
    assert set(each["spec"]) <= POD_MONITOR_KEYS
    wanted = each["spec"]["selector"]["matchLabels"].items()
    ports = {
        port["name"]
        for _, template in pods()
        if wanted <= template["metadata"]["labels"].items()
        for container in [*template["spec"].get("initContainers", []), *template["spec"]["containers"]]
        for port in container.get("ports", [])
    }
    for endpoint in each["spec"]["podMetricsEndpoints"]:
        assert set(endpoint) <= ENDPOINT_KEYS
        assert endpoint["port"] in ports


def test_what_prometheus_finds_by_the_monitor_is_the_job_of_the_rules():
    rules = yaml.safe_load((FOLDER.parent / "prometheus" / "rules" / "health.yml").read_text())
    jobs = set(re.findall(r'job="([^"]*)"', json.dumps(rules).replace("\\", "")))
    spec = of_kind("PodMonitor")["fairclock"]["spec"]
    # without a jobLabel the operator calls the job namespace/name
    named = {spec["selector"]["matchLabels"].get(spec.get("jobLabel"), "fairclock/fairclock")}
    assert jobs == named


def test_every_file_is_a_resource_and_every_resource_a_file():
    files = {path.name for path in FOLDER.glob("*.yaml")} - {"kustomization.yaml"}
    assert files == set(KUSTOMIZATION["resources"])
    sources = [
        each.partition("=")[2] or each
        for config in KUSTOMIZATION["configMapGenerator"]
        for each in config["files"]
    ]
    assert {str(path.relative_to(FOLDER)) for path in FOLDER.glob("configuration/*")} == set(sources)


def test_everything_that_was_asked_for_is_there():
    kinds = {each["kind"] for each in OBJECTS}
    assert {
        "StatefulSet",
        "Deployment",
        "CronJob",
        "NetworkPolicy",
        "PodMonitor",
        "Role",
        "RoleBinding",
    } <= kinds
    assert len(of_kind("CronJob")) == 2


@pytest.mark.parametrize(("pod", "container"), CONTAINERS)
def test_a_container_may_nothing_that_the_restricted_standard_forbids(pod, container):
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] > 0
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert "memory" in container["resources"]["limits"]
    assert {"cpu", "memory"} <= set(container["resources"]["requests"])
    assert pod["automountServiceAccountToken"] is False


@pytest.mark.parametrize(("pod", "container"), CONTAINERS)
def test_images_are_pinned_here_or_by_the_kustomization(pod, container):
    tagged = {each["name"] for each in KUSTOMIZATION["images"]}
    assert container["image"] in tagged or re.search(r":v?\d+\.\d+\.\d+$", container["image"])


@pytest.mark.parametrize("template", PODS)
def test_what_a_pod_mounts_it_has_and_what_it_has_it_mounts(template):
    spec = template["spec"]
    volumes = {each["name"] for each in spec["volumes"]}
    containers = [*spec.get("initContainers", []), *spec["containers"]]
    mounted = {mount["name"] for each in containers for mount in each.get("volumeMounts", [])}
    assert volumes <= mounted
    claims = {"data"} if "fairclock" in template["metadata"]["labels"].values() else set()
    assert mounted - volumes <= claims


@pytest.mark.parametrize("template", PODS)
def test_configurations_secrets_claims_and_accounts_that_are_named_are_there(template):
    spec = template["spec"]
    generated = {each["name"] for each in KUSTOMIZATION["configMapGenerator"]}
    for volume in spec["volumes"]:
        assert volume.get("configMap", {"name": "fairclock"})["name"] in generated
        assert volume.get("secret", {"secretName": "fairclock-store"})["secretName"] in SECRETS
        claim = volume.get("persistentVolumeClaim", {"claimName": "reports"})["claimName"]
        assert claim in of_kind("PersistentVolumeClaim")
    assert spec["serviceAccountName"] in of_kind("ServiceAccount")


def test_what_stays_is_asked_whether_it_lives_and_whether_it_is_ready():
    (fairclock,) = of_kind("StatefulSet")["fairclock"]["spec"]["template"]["spec"]["containers"]
    assert {"startupProbe", "livenessProbe", "readinessProbe"} <= set(fairclock)
    vllm = of_kind("Deployment")["vllm"]["spec"]["template"]["spec"]
    probes = {each["name"]: {key for key in each if key.endswith("Probe")} for each in [*vllm["initContainers"], *vllm["containers"]]}  # fmt: skip
    assert probes["fairclock"] == {"startupProbe", "livenessProbe"}
    assert probes["gateway"] == {"livenessProbe", "readinessProbe"}
    assert probes["vllm"] == {"startupProbe", "livenessProbe"}
    sidecar = next(each for each in vllm["initContainers"] if each["name"] == "fairclock")
    assert sidecar["restartPolicy"] == "Always"


def test_selectors_find_the_pods_they_are_about():
    labels = {template["metadata"]["labels"]["app.kubernetes.io/name"] for _, template in pods()}
    for kind in ("Service", "NetworkPolicy", "PodDisruptionBudget", "PodMonitor"):
        for each in of_kind(kind).values():
            selector = each["spec"].get("podSelector", each["spec"].get("selector"))
            wanted = selector.get("matchLabels", selector)
            assert wanted.get("app.kubernetes.io/name", "vllm") in labels, name_of(each)


def test_nobody_speaks_to_anybody_but_where_a_policy_lets_them():
    (nobody,) = [each for each in of_kind("NetworkPolicy").values() if each["spec"]["podSelector"] == {}
                 and "ingress" not in each["spec"] and "egress" not in each["spec"]]  # fmt: skip
    assert set(nobody["spec"]["policyTypes"]) == {"Ingress", "Egress"}


def test_operators_may_not_read_secrets():
    for each in of_kind("Role").values():
        assert not any("secrets" in rule["resources"] or "*" in rule["resources"] for rule in each["rules"])


@pytest.mark.parametrize(
    ("name", "mounts"),
    [
        ("fairclock.yaml", ("/etc/fairclock/contracts", "/run/secrets/fairclock", "/run/secrets/webhooks", "/run/secrets/metrics", "/var/lib/fairclock")),
        ("sidecar.yaml", ("/run/secrets/fairclock", "/var/log/fairclock", "/var/lib/fairclock")),
    ],
)  # fmt: skip
def test_a_configuration_names_what_its_pod_mounts(name, mounts):
    text = (FOLDER / "configuration" / name).read_text()
    parse_configuration(text.encode(), Configuration, where=name)
    named = set(re.findall(r"(/(?:etc|run|var)/[\w./-]+)", text))
    assert [path for path in named if not path.startswith(mounts)] == []
    assert {re.search(r"/run/secrets/(\w+)", path)[1] for path in named if path.startswith("/run")} <= {"fairclock", "metrics", "webhooks"}  # fmt: skip


def test_the_secrets_that_an_operator_brings_are_said_on_the_page():
    page = (FOLDER.parents[1] / "docs" / "deployment.md").read_text()
    for name, keys in SECRETS.items():
        assert f"`{name}`" in page
        assert all(f"`{key}`" in page for key in keys)


@pytest.mark.parametrize(
    ("name", "what"),
    [("reports-preview", "/preview"), ("reports-issue", "--issue")],
)
def test_a_job_writes_the_reports_of_the_month_before(name, what, tmp_path):
    spec = of_kind("CronJob")[name]["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    said = tmp_path / "said"
    for program, does in (("fairclock", f'echo "$@" > {said}; exit 1'), ("date", 'exec /bin/date "$@"')):
        path = tmp_path / program
        path.write_text(f"#!/bin/sh\n{does}\n")
        path.chmod(0o755)
    done = subprocess.run(
        [*container["command"], *container["args"]],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, "a violated objective is a result"
    words = said.read_text()
    assert re.search(r"--all --month 20\d\d-(0[1-9]|1[0-2]) ", words)
    assert what in words
