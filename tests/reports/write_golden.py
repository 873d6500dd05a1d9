"""Write the golden HTML anew: python -m tests.reports.write_golden; then look at the difference."""

from __future__ import annotations

from pathlib import Path

from sla.reports.html import report_html
from tests.reports import exclusion_cases, factories

FOLDER = Path(__file__).parent / "golden"
CASES = {
    "mixed.en.html": (factories.report, "en"),
    "mixed.zh.html": (factories.report, "zh"),
    "hostile.en.html": (factories.hostile, "en"),
    "empty_month.zh.html": (factories.empty_month, "zh"),
    "simulated.en.html": (factories.simulated, "en"),
    "excluded.en.html": (exclusion_cases.excluded, "en"),
    "excluded.zh.html": (exclusion_cases.excluded, "zh"),
}

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, (make, code) in CASES.items():
        (FOLDER / name).write_text(report_html(make(), code), encoding="utf-8")
