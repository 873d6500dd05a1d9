"""Log lines that programs read: pairs or JSON, in UTC, one line each whatever is in them."""

import json
import logging
import re
import warnings

import pytest

from fairclock.cli.logs import _QUIETED, start_logging

PAIR = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|[^ ]*)')
MESSAGES = [
    "delivers again, after 35 s",
    "plain",
    "",
    'it said "no"\nand\tleft',
    "后端不可用",
    "a=b c=d",
    "\x1b[31mred\x1b[0m \x00",
]


@pytest.fixture
def lines(capsys):
    root = logging.getLogger()
    before = root.handlers[:], root.level
    quieted = {name: logging.getLogger(name).level for name in _QUIETED}
    yield lambda: capsys.readouterr().err.split("\n")[:-1]
    logging.captureWarnings(False)
    root.handlers[:], root.level = before
    for name, level in quieted.items():
        logging.getLogger(name).setLevel(level)


@pytest.mark.parametrize("message", MESSAGES)
def test_pairs_can_be_read_back(lines, message):
    start_logging()
    logging.getLogger("exporters.spool").warning("%s", message)
    (line,) = lines()
    pairs = PAIR.findall(line)
    assert " ".join(f"{key}={value}" for key, value in pairs) == line
    fields = {key: json.loads(value) if value.startswith('"') else value for key, value in pairs}
    assert list(fields) == ["time", "level", "logger", "message"]
    assert fields["level"] == "warning"
    assert fields["logger"] == "exporters.spool"
    assert fields["message"] == message


@pytest.mark.parametrize("message", MESSAGES)
def test_json_can_be_read_back(lines, message):
    start_logging(form="json")
    logging.getLogger("tail").error("%s", message)
    (line,) = lines()
    fields = json.loads(line)
    assert (fields["level"], fields["logger"], fields["message"]) == ("error", "tail", message)
    assert fields["time"].endswith("Z")


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_traceback_stays_on_the_line_of_its_error(lines, form):
    start_logging(form=form)
    try:
        int("unforeseen")
    except ValueError:
        logging.getLogger("tail").exception("it broke")
    (line,) = lines()
    assert "ValueError: invalid literal" in line


def test_the_time_is_utc_and_has_milliseconds(lines):
    start_logging()
    record = logging.LogRecord("x", logging.INFO, "", 0, "m", None, None)
    record.created = 1_790_856_000.0129
    logging.getLogger().handle(record)
    assert lines()[0].startswith("time=2026-10-01T12:00:00.012Z level=info logger=x message=m")


def test_libraries_are_quiet_and_a_level_holds(lines):
    start_logging(level="info")
    logging.getLogger("httpx").info("HTTP Request: POST …")
    logging.getLogger("uvicorn.error").info("Started server process")
    logging.getLogger("exporters").debug("detail")
    logging.getLogger("exporters").info("seen")
    assert [line.split()[2] for line in lines()] == ["logger=exporters"]
    start_logging(level="warning")
    logging.getLogger("exporters").info("not seen")
    assert lines() == []


@pytest.mark.parametrize("form", ["text", "json"])
def test_what_libraries_say_before_they_raise_is_not_said_twice(lines, form):
    start_logging(form=form, level="debug")
    for name in (
        "urllib3.connectionpool",
        "urllib3.util.retry",
        "clickhouse_connect.driver._backend.http_sync",
    ):
        logging.getLogger(name).warning("Unexpected Http Driver Exception", exc_info=ConnectionError("reset"))
        logging.getLogger(name).error("Insert producer error", exc_info=ConnectionError("reset"))
    assert lines() == []


def test_a_warning_of_a_library_is_a_line_like_any_other(lines):
    start_logging(form="json")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(False)
        start_logging(form="json")
        warnings.warn("will go\nsoon", DeprecationWarning, stacklevel=1)
    (line,) = lines()
    fields = json.loads(line)
    assert (fields["level"], fields["logger"]) == ("warning", "py.warnings")
    assert "will go\nsoon" in fields["message"]
