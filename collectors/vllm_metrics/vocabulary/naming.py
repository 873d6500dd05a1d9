"""Own how a name on the wire is mapped: prefixes, endings, older names, and families that are not vLLM's."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from collectors.vllm_metrics.vocabulary.aliases import ALIASES
from collectors.vllm_metrics.vocabulary.families import FAMILIES

if TYPE_CHECKING:
    from collectors.vllm_metrics.vocabulary.aliases import Alias
    from collectors.vllm_metrics.vocabulary.families import Family

PREFIX = "vllm:"
_PREFIXES = (PREFIX, "ray_vllm:", "ray_vllm_")
_SANITISED_PREFIX = "vllm_"  # vLLM's own only where a name of its vocabulary follows
_TOTAL = "_total"
_CACHED_NAMES = 20_000

FOREIGN_PREFIXES = ("sglang:", "tgi_", "DCGM_", "http_", "process_", "python_", "ray_", "lmcache:")
"""Families of other programs that are expected beside vLLM's, and kept under their own names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """What a family's name on the wire stands for.

    name: in the vocabulary, with the prefix ``vllm:``; a foreign or unknown family keeps its own.
    family: what is known of it; None where it is not vLLM's, or not known.
    alias: set where vLLM calls it otherwise today.
    is_vllm: whether it is vLLM's, known or not.
    is_expected: whether it is in the vocabulary, or of a program that is expected beside vLLM.
    """

    name: str
    family: Family | None
    alias: Alias | None
    is_vllm: bool
    is_expected: bool


@lru_cache(maxsize=_CACHED_NAMES)
def naming_of(wire_name: str) -> Naming:
    """Map the name of a family, with or without ``_total``; endings of histograms must be off."""
    for prefix in _PREFIXES:
        if wire_name.startswith(prefix):
            return _of_vllm(wire_name.removeprefix(prefix))
    if wire_name.startswith(_SANITISED_PREFIX):
        found = _of_vllm(wire_name.removeprefix(_SANITISED_PREFIX))
        if found.family is not None:
            return found
    return Naming(
        name=wire_name,
        family=None,
        alias=None,
        is_vllm=False,
        is_expected=wire_name.startswith(FOREIGN_PREFIXES),
    )


def _of_vllm(rest: str) -> Naming:
    name = rest if rest in FAMILIES else rest.removesuffix(_TOTAL)
    alias = ALIASES.get(name)
    name = name if alias is None else alias.new
    family = FAMILIES.get(name)
    return Naming(
        name=PREFIX + (name if family is not None else rest),
        family=family,
        alias=alias,
        is_vllm=True,
        is_expected=family is not None,
    )
