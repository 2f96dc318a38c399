"""What a browser test needs: a server of its own, the system's Chromium, and a voice for its microphone."""

import os
import re
import shutil
import signal
import subprocess
import time
import wave
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Playwright

from offhook.kit import http
from offhook.models.providers.builtin.tts import synthesize_speech
from tests.forks import ForkedProcess, forks

UI = Path(http.__file__).parents[2] / "_ui" / "index.html"
RATE = 48_000
START_S = 60.0
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--autoplay-policy=no-user-gesture-required",
)
_LINK = re.compile(r"(http://\S+?)/sign-in\?token=\S+")


def find_chromium() -> str | None:
    return next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
    )


def in_a_browser(timeout_s: int) -> list[pytest.MarkDecorator]:
    """The marks of a module whose tests open the built page."""
    return [
        pytest.mark.browser,
        pytest.mark.skipif(find_chromium() is None, reason="there is no Chromium on PATH"),
        pytest.mark.skipif(not UI.is_file(), reason="the web UI is not built: make web"),
        pytest.mark.timeout(timeout_s),
    ]


@contextmanager
def running_server(data_dir: Path, settings: Mapping[str, str] | None = None) -> Iterator[str]:
    """``offhook serve`` on a free port and an empty data folder; yields the one-time sign-in link that it prints.

    ``settings`` are environment variables.
    """
    log = data_dir.parent / "serve.log"
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OFFHOOK_")} | dict(settings or {})
    with log.open("w") as output:
        environment["OFFHOOK_DATA_DIR"] = str(data_dir)
        process = forks().start("serve", "--port", "0", env=environment, stdout=output)
    try:
        yield _wait_for_link(process, log)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_for_link(process: ForkedProcess, log: Path) -> str:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and process.poll() is None:
        if found := _LINK.search(log.read_text()):
            return found.group(0)
        time.sleep(0.1)
    raise AssertionError(f"the server did not start:\n{log.read_text()}")


@contextmanager
def chromium(
    playwright: Playwright, microphone: Path | None = None, *, allows_microphone: bool = True
) -> Iterator[Browser]:
    """Headless Chromium whose microphone plays a WAV file once, from the moment in which a page opens it."""
    flags = [*FLAGS, "--use-fake-device-for-media-stream"]
    if allows_microphone:
        flags.append("--use-fake-ui-for-media-stream")
    if microphone is not None:
        flags.append(f"--use-file-for-fake-audio-capture={microphone}%noloop")
    browser = playwright.chromium.launch(executable_path=find_chromium(), args=flags)
    yield browser
    browser.close()


def record_caller(path: Path, lines: Sequence[tuple[float, str]]) -> None:
    """A mono WAV of sentences in the offline voice; each begins at its second."""
    voices = [
        (round(at_s * RATE), synthesize_speech(text, voice="en-us+klatt3", sample_rate=RATE)) for at_s, text in lines
    ]
    track = np.zeros(max(start + len(voice) for start, voice in voices) + RATE, np.int16)
    for start, voice in voices:
        track[start : start + len(voice)] = voice
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(track.tobytes())
