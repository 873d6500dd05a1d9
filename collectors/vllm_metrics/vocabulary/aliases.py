"""Own the names that vLLM gave up: what each is called now, in which versions it is met, and what differs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Alias:
    """An older name, without vLLM's prefix and without ``_total``.

    label: (name, value) that is put on its series where its values may differ in unit from those of the new name.
    """

    old: str
    new: str
    versions: str
    note: str = ""
    label: tuple[str, str] | None = None


_BLOCKS = ("unit", "blocks or tokens")

ALIASES: dict[str, Alias] = {
    alias.old: alias
    for alias in (
        Alias(
            old="cache_config",
            new="cache_config_info",
            versions="0.5",
            note="the name of an Info, which adds _info on the wire",
        ),
        Alias(
            old="gpu_cache_usage_perc",
            new="kv_cache_usage_perc",
            versions="0.5-0.11",
            note="both names in 0.9.2 and 0.10; hidden in 0.11",
        ),
        Alias(
            old="gpu_prefix_cache_queries",
            new="prefix_cache_queries",
            versions="0.8-0.11",
            note="counts blocks before 0.9 and tokens since; alone it does not say which, so its series say so",
            label=_BLOCKS,
        ),
        Alias(
            old="gpu_prefix_cache_hits",
            new="prefix_cache_hits",
            versions="0.8-0.11",
            note="counts blocks before 0.9 and tokens since; alone it does not say which, so its series say so",
            label=_BLOCKS,
        ),
        Alias(
            old="time_per_output_token_seconds",
            new="inter_token_latency_seconds",
            versions="0.5-0.14",
            note="the same definition; not to be confused with request_time_per_output_token_seconds",
        ),
    )
}
