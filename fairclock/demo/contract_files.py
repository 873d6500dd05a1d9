"""Own the contracts of the simulated tenants: what was promised to whom."""

from __future__ import annotations

from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from fairclock.demo.issuing import demo_key

if TYPE_CHECKING:
    from pathlib import Path

    from fairclock.demo.month import Month

MONTH_CONTRACTS = ("yunfan", "acme", "borealis-legal", "lumen-search", "harbour-logistics")
TRACE_CONTRACTS = ("trace",)


def write_contracts(names: tuple[str, ...], *, month: Month, folder: Path) -> tuple[Path, ...]:
    """Write the contracts `names`, in force in the year of `month` and in its zone, as ``FOLDER/NAME.yaml``."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name in names:
        text = (files("fairclock.demo") / "contracts" / f"{name}.yaml").read_text(encoding="utf-8")
        path = folder / f"{name}.yaml"
        filled = Template(text).substitute(
            year=month.name[:4], zone=month.zone, provider_key=demo_key().public.text
        )
        path.write_text(filled, encoding="utf-8", newline="\n")
        paths.append(path)
    return tuple(paths)
