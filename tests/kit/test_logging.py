"""One log, for people or for machines."""

import json
import subprocess
import sys
import threading

import pytest

SPEAK = """
import logging, structlog
from offhook.kit.logging import configure_logging
configure_logging("info", "{style}")
structlog.get_logger("offhook.runs").info("run_ended", run_id=7)
logging.getLogger("some.library").warning("careful")
logging.getLogger("httpx2").info("a request, which nobody wants to read")
def divide(api_key):
    1 / 0
try:
    divide("ohk_" + "secret")
except ZeroDivisionError:
    structlog.get_logger("offhook.runs").exception("failed")
"""


def said(style: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", SPEAK.format(style=style)], capture_output=True, text=True, check=True, timeout=30
    )
    assert done.stdout == ""
    return done.stderr.splitlines()


def test_json_is_one_object_a_line() -> None:
    run, library, failure = map(json.loads, said("json"))
    assert (run["event"], run["run_id"], run["level"], run["logger"]) == ("run_ended", 7, "info", "offhook.runs")
    assert (library["event"], library["level"]) == ("careful", "warning")
    assert "ZeroDivisionError" in failure["exception"]


def test_text_is_for_people() -> None:
    lines = said("text")
    assert "run_ended" in lines[0]
    assert "run_id=7" in lines[0]
    assert not any("nobody wants" in line for line in lines)
    assert "ZeroDivisionError" in lines[-1]


@pytest.mark.parametrize("style", ["text", "json"])
def test_a_traceback_shows_no_values(style: str) -> None:
    lines = "\n".join(said(style))
    assert "in divide" in lines
    assert "ohk_secret" not in lines


ASK = """
import logging
import httpx2, structlog
from offhook.kit.logging import configure_logging
configure_logging("{level}", "json")
with httpx2.Client(transport=httpx2.MockTransport(lambda request: httpx2.Response(200))) as client:
    client.post("https://vendor.test/v1/speak?key=ohk_secret")
logging.getLogger("some.library.of.tomorrow").info("HTTP Request: POST https://vendor.test/?key=ohk_secret")
structlog.get_logger("offhook.runs").info("run_ended")
"""


@pytest.mark.parametrize("level", ["debug", "info"])
def test_requests_of_libraries_are_not_logged(level: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ASK.format(level=level)], capture_output=True, text=True, check=True, timeout=30
    )
    assert [json.loads(line)["event"] for line in done.stderr.splitlines()] == ["run_ended"]


UNREAD = """
import structlog, sys, time
from offhook.kit.logging import configure_logging
configure_logging("info", "json")
for number in range(20_000):
    structlog.get_logger("offhook.runs").info("run_ended", run_id=number)
print("went on", flush=True)
sys.stdin.readline()
time.sleep(1)
structlog.get_logger("offhook.runs").info("read_again")
"""


def test_a_log_that_nothing_reads_stops_nothing() -> None:
    """The line that carries every call is the one that writes the log."""
    with subprocess.Popen(
        [sys.executable, "-c", UNREAD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        watchdog = threading.Timer(60, process.kill)
        watchdog.start()
        try:
            assert process.stdout.readline() == "went on\n"
            _, errors = process.communicate("\n", timeout=60)
        finally:
            watchdog.cancel()
    lines = errors.splitlines()
    said = [line for line in lines if "log lines were dropped here" in line]
    events = [json.loads(line) for line in lines if line not in said]
    assert [event["run_id"] for event in events[:-1]] == list(range(len(events) - 1))
    assert events[-1]["event"] == "read_again"
    assert said == [f"{20_001 - len(events)} log lines were dropped here because nothing was reading the log."]


def test_long_lines_are_whole() -> None:
    speak = SPEAK.format(style="json").replace("run_id=7", "run_id='x' * 300_000")
    done = subprocess.run([sys.executable, "-c", speak], capture_output=True, text=True, check=True, timeout=30)
    assert json.loads(done.stderr.splitlines()[0])["run_id"] == "x" * 300_000
