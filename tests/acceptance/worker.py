"""Own a process that runs commands one after the other, as a shell would but without starting anew.

Reads one JSON list of words a line, answers with one JSON object: code, out, err.
"""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout


def _run(words: list[str]) -> dict[str, object]:
    from fairclock.cli import main

    out, err, code = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8"), 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main(words)
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 1
        except Exception:  # noqa: BLE001 - an escape is a finding, and the test shows it
            import traceback

            traceback.print_exc()
            code = 99
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())
    return {"code": code, "out": texts[0], "err": texts[1]}


def main() -> None:
    """Serve until the input ends."""
    answers = sys.stdout
    for line in sys.stdin:
        answers.write(json.dumps(_run(json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
