"""Write docs/metrics.md anew from what the program publishes: python docs/make_metrics.py."""  # noqa: INP001 - a program, no package

from pathlib import Path

from fairclock.cli.pipeline.metrics.reference import page

if __name__ == "__main__":
    Path(__file__).with_name("metrics.md").write_text(page(), encoding="utf-8")
