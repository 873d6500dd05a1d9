"""Own the README's pictures: a finished demonstration's report and console, as they are seen.

    python docs/pictures/make_pictures.py DEMO_FOLDER

The demonstration is copied and its contracts end with its month, so that the console shows that month as the latest.
Needs Chromium and pdftoppm beside what tests need.
"""

# ruff: noqa: INP001, T201 - a program of this folder, that says what it wrote

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import uvicorn
from PIL import Image
from playwright.sync_api import sync_playwright

from billing.prices.loading import load_price_book
from fairclock.cli.configuration import configuration
from fairclock.cli.pipeline.console import console
from fairclock.cli.pipeline.looked import Looked
from fairclock.store import open_store
from fairclock.store.tokens import Keyring
from sla.contracts.versions import load_versions

if TYPE_CHECKING:
    from collections.abc import Iterator

OUT = Path(__file__).parent
CONTRACT, TENANT, MONTH = "yunfan-2026", "云帆金融", "2026-10"
PERIOD = ("2026-09-30T16:00:00Z", "2026-10-31T16:00:00Z")
PAGES = {"console-overview": "/", "console-tenant": f"/tenants/{quote(TENANT)}?month={MONTH}"}
LANGUAGES = {"en": "", "zh": ".zh"}
WINDOW = {"width": 1280, "height": 860}
SHOWN_WIDTH, COLOURS, LARGEST_BYTES = 1280, 128, 200_000
REPORT_DPI = 84
START_SECONDS = 30


def main() -> None:
    """Write the pictures of the demonstration in the folder that is named."""
    if len(sys.argv) != 2:  # noqa: PLR2004 - the program and the folder
        sys.exit("usage: python docs/pictures/make_pictures.py DEMO_FOLDER")
    demo = Path(sys.argv[1])
    if not (demo / "reports" / f"{CONTRACT}-{MONTH}.pdf").is_file():
        sys.exit(f"{demo}: holds no finished demonstration; make one with make demo")
    for code, suffix in LANGUAGES.items():
        report_picture(demo, suffix, OUT / f"report{suffix}.png")
        print(f"report{suffix}.png ({code})")
    with tempfile.TemporaryDirectory() as folder, served(copied(demo, Path(folder))) as address:
        console_pictures(address)


def report_picture(demo: Path, suffix: str, out: Path) -> None:
    """Draw the first page of the report."""
    pdf = demo / "reports" / f"{CONTRACT}-{MONTH}{suffix}.pdf"
    command = ["pdftoppm", "-png", "-r", str(REPORT_DPI), "-f", "1", "-l", "1", "-singlefile", str(pdf)]
    keep(subprocess.run(command, check=True, capture_output=True).stdout, out)


def copied(demo: Path, folder: Path) -> Path:
    """Copy the store and the contracts, end the contracts with the month, count it; return the configuration."""
    for name in ("store", "billing", "contracts"):
        shutil.copytree(demo / name, folder / name, symlinks=True)
    last_day = f"{MONTH}-31"
    for path in (folder / "contracts").glob("*.yaml"):
        text = path.read_text(encoding="utf-8")
        path.write_text(
            re.sub(r"(term: \{from: [0-9-]+, to: )[0-9-]+", rf"\g<1>{last_day}", text), encoding="utf-8"
        )
    file = folder / "billing" / "fairclock.yaml"
    settings = json.loads(file.read_text(encoding="utf-8"))
    settings["store"]["dsn"] = f"chdb://{folder / 'store'}"
    settings["sla"] = {
        "contracts": [f"../contracts/{path.name}" for path in sorted((folder / "contracts").glob("*.yaml"))]
    }
    file.write_text(json.dumps(settings), encoding="utf-8")
    window = ["--from", PERIOD[0], "--to", PERIOD[1]]
    subprocess.run(
        [sys.executable, "-m", "fairclock", "evaluate", "--quiet", "-c", str(file), *window],
        check=False,  # 1: a promise is at risk
        stdout=subprocess.DEVNULL,
    )
    return file


@contextmanager
def served(file: Path) -> Iterator[str]:
    """Serve the console over the copy; yield its address."""
    settings = configuration(file)
    prices = load_price_book(file.parent / str(settings.billing.prices))
    contracts = [load_versions(path) for path in sorted((file.parents[1] / "contracts").glob("*.yaml"))]
    store = open_store(str(settings.store.dsn))
    looked = Looked(contracts=lambda: contracts, prices=lambda: prices)
    keyring = Keyring(list, monotonic=time.monotonic)
    with console(settings, lambda: store, keyring, looked, address="127.0.0.1:0") as application:
        config = uvicorn.Config(application, host="127.0.0.1", port=0, log_level="error", lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        deadline = time.monotonic() + START_SECONDS
        while not server.started:
            if time.monotonic() > deadline:
                sys.exit("the console did not start")
            time.sleep(0.05)
        try:
            yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
    store.close()


def console_pictures(address: str) -> None:
    """Look at each page in both languages."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_context(viewport=WINDOW, color_scheme="light").new_page()  # type: ignore[arg-type]
        page.set_default_timeout(120_000)
        for name, path in PAGES.items():
            for code, suffix in LANGUAGES.items():
                page.goto(f"{address}{path}{'&' if '?' in path else '?'}lang={code}")
                keep(page.screenshot(), OUT / f"{name}{suffix}.png")
                print(f"{name}{suffix}.png ({code})")
        browser.close()


def keep(png: bytes, out: Path) -> None:
    """Write a picture in few colours; one that is too large for a README stops the program."""
    with Image.open(io.BytesIO(png)) as picture:
        small = picture.convert("RGB")
        if small.width > SHOWN_WIDTH:
            small = small.resize((SHOWN_WIDTH, small.height * SHOWN_WIDTH // small.width))
        small.quantize(COLOURS, dither=Image.Dither.NONE).save(out, optimize=True)
    if out.stat().st_size > LARGEST_BYTES:
        sys.exit(f"{out}: is larger than {LARGEST_BYTES} bytes ({out.stat().st_size})")


if __name__ == "__main__":
    main()
