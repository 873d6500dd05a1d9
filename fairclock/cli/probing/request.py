"""Own what a probe run was asked for: the command line's words, checked, as one value."""

from __future__ import annotations

import os
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairclock.cli.configuration import configuration
from fairclock.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from fairclock.cli.configuration import Configuration
    from inference_probe.prober.loading import Loading

_ID_BYTES = 6
EVERYBODY, NOBODY = "everybody", "nobody"
_SPEAKS_FOR_ALL = frozenset({"run", "shadow", "quality"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """One call of the command. `words` has the options by their names in the code; `dsn` is None where nothing is to be stored."""

    url: str
    mode: str
    words: dict[str, Any]
    config: Path | None
    dsn: str | None
    quiet: bool

    def __getitem__(self, name: str) -> Any:
        """Return an option's value."""
        return self.words[name]


def probe_tenant(found: Configuration, named: str | None) -> str:
    """Return whose traffic probes are at the gateway; a tenant that is charged, or has a contract, is refused."""
    known = found.billing.gpu_time.probe_tenants
    tenant = named or next(iter(known), "")
    if tenant not in known:
        raise UsageError(
            "--tenant",
            "the use of this tenant would be charged to it",
            found=tenant,
            remedy="name one of billing.gpu_time.probe_tenants, or add it there",
        )
    if found.sla.contracts:
        from fairclock.cli.evaluating import load_contracts  # noqa: PLC0415

        for contract in (each for versions in load_contracts(found.sla.contracts) for each in versions):
            if tenant in contract.customer.tenants:
                raise UsageError(
                    "--tenant",
                    f"probes would be in the figures of contract {contract.id}",
                    found=tenant,
                    remedy="take the tenant out of the contract, or name another one",
                )
    return tenant


def speaks_for(request: RunRequest, tenant: str) -> str:
    """Return the tenant of the stored rows: whom a failure concerns; empty: everybody.

    A sweep overloads on purpose and a canary may be broken: these say nothing of what customers had, unless told to.
    """
    named = request["speaks_for"] or (EVERYBODY if request.mode in _SPEAKS_FOR_ALL else NOBODY)
    if named == EVERYBODY:
        return ""
    return tenant if named == NOBODY else str(named)


def loading(request: RunRequest, tenant: str) -> Loading:
    """Return the endpoint and how it is asked."""
    from inference_probe.prober.endpoints import endpoint  # noqa: PLC0415
    from inference_probe.prober.loading import Loading as Made  # noqa: PLC0415
    from inference_probe.prober.plans import Asking  # noqa: PLC0415

    if not request["model"]:
        raise UsageError("--model", "no model is named", remedy="name it as the endpoint calls it")
    run = secrets.token_hex(_ID_BYTES)
    # prompts that an earlier run has asked would be answered from the engine's prefix cache
    seed = int(run, 16) if request["seed"] is None else request["seed"]
    return Made(
        endpoint=endpoint(request.url, api_key=api_key(request["key_env"]), ca=request["ca"]),
        asking=Asking(
            run=run,
            model=request["model"],
            tenant=tenant,
            api=request["api"],
            streams=not request["whole"],
            prompt_tokens=request["prompt_tokens"],
            completion_tokens=request["completion_tokens"],
            timeout_seconds=request["timeout_seconds"],
            cancel_ratio=request["cancel_ratio"],
            cancel_seconds=request["cancel_after"],
            seed=seed,
            inference_mode=request["inference_mode"],
        ),
        bound_seconds=request["most_late_ms"] / 1e3,
        wall=time.time,
        fresh_connections=request["fresh_connections"],
    )


def api_key(variable: str | None) -> str:
    """Return the key in the variable; empty where none is named."""
    if variable is None:
        return ""
    if not (key := os.environ.get(variable)):
        raise UsageError("--key-env", "the variable is not set", found=variable, remedy="export it")
    return key


def settings(request: RunRequest) -> Configuration:
    """Return the configuration."""
    return configuration(request.config)
