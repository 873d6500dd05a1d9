"""Own the look for vLLM: the ports where it may answer, and whether it sends its spans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.cli.discovery.discovered import Discovered, absent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairclock.cli.discovery.machine import Machine

_SUBJECT = "vLLM"
_USUAL_PORT = 8000
_SERIES = "\nvllm:"
_SPANS = "--otlp-traces-endpoint"
_OK = 200
_REFUSED = {401, 403}


def look_for_engines(machine: Machine, *, behind_gateways: Iterable[int]) -> list[Discovered]:
    """Ask the usual port, those of processes that look like vLLM, and those that nginx hands requests to."""
    processes = [words for words in machine.command_lines() if any(map(_is_vllm, words[:4]))]
    ports = sorted({_USUAL_PORT, *behind_gateways, *(_port(words) for words in processes)})
    found, targets = [], []
    for port in ports:
        answer = machine.ask(port, "/metrics")
        if answer is not None and answer.status in _REFUSED:
            found.append(
                Discovered(
                    subject=_SUBJECT,
                    detail=f"port {port} asks for a token; if it is vLLM, write it down under vllm with access.token_file",
                )
            )
        elif answer is not None and answer.status == _OK and _SERIES in f"\n{answer.text}":
            targets.append(f"http://{machine.host}:{port}/metrics")
    if targets:
        engines = "an engine answers" if len(targets) == 1 else "engines answer"
        detail = f"{engines} at {', '.join(targets)}"
        found.append(Discovered(subject=_SUBJECT, detail=detail, settings={"vllm.targets": targets}))
        silent = [words for words in processes if not any(word.startswith(_SPANS) for word in words)]
        if silent:
            found.append(
                Discovered(
                    subject=_SUBJECT,
                    detail=f"{len(silent)} of its processes sends no spans: start it with {_SPANS} http://127.0.0.1:4317",
                )
            )
    elif not found:
        asked = ", ".join(map(str, ports))
        found.append(
            absent(_SUBJECT, f"nothing on this machine's ports {asked} answers /metrics as vLLM does")
        )
    return found


def _is_vllm(word: str) -> bool:
    return word == "vllm" or word.endswith("/vllm") or word.startswith("vllm.entrypoints.")


def _port(words: list[str]) -> int:
    for word, following in zip(words, [*words[1:], ""], strict=True):
        text = (
            following
            if word == "--port"
            else word.removeprefix("--port=")
            if word.startswith("--port=")
            else ""
        )
        if text.isascii() and text.isdigit():
            return int(text)
    return _USUAL_PORT
