"""Write the tables of docs/vllm-metrics.md anew: python -m tests.vllm_metrics.write_vocabulary."""

from __future__ import annotations

from pathlib import Path

from collectors.vllm_metrics.vocabulary import ALIASES, FAMILIES

PAGE = Path(__file__).parents[2] / "docs/vllm-metrics.md"
BEGIN, END = "<!-- tables: begin -->\n", "<!-- tables: end -->\n"


def tables() -> str:
    """Return the vocabulary and the older names as tables."""
    lines = ["| name | kind | unit | vLLM | |", "|---|---|---|---|---|"]
    lines += [
        f"| `{each.name}` | {each.kind} | {each.unit} | {_range(each.versions)} | {each.note} |"
        for each in FAMILIES.values()
    ]
    lines += ["", "| older name | is read as | vLLM | |", "|---|---|---|---|"]
    for alias in ALIASES.values():
        label = "" if alias.label is None else f', with the label `{alias.label[0]}="{alias.label[1]}"`'
        lines.append(f"| `{alias.old}` | `{alias.new}`{label} | {_range(alias.versions)} | {alias.note} |")
    return "\n".join(lines) + "\n"


def _range(versions: str) -> str:
    first, _, last = versions.partition("-")
    return f"{first} to {last}" if last else f"from {first}" if versions.endswith("-") else first


def with_tables(page: str) -> str:
    """Return the page with its tables as they should be."""
    before, _, rest = page.partition(BEGIN)
    return before + BEGIN + tables() + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
