"""What a browser test needs: a server of its own, the system's Chromium, and a voice for its microphone."""

import base64
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FloatRect, Locator, Page, Playwright

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
# The device is opened as ever, with its permission and its constraints; what it hears is replaced.
_MICROPHONE = """
const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
navigator.mediaDevices.getUserMedia = async (constraints) => {
  (await open(constraints)).getTracks().forEach((track) => track.stop());
  const context = new AudioContext();
  const microphone = context.createMediaStreamDestination();
  window.speak = (encoded, rate) => {
    const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
    const buffer = context.createBuffer(1, bytes.length / 2, rate);
    buffer.getChannelData(0).set(Float32Array.from(new Int16Array(bytes.buffer), (sample) => sample / 32768));
    const source = new AudioBufferSourceNode(context, { buffer });
    source.connect(microphone);
    source.start();
  };
  return microphone.stream;
};
"""
_LINK = re.compile(r"(http://\S+?)/sign-in\?token=\S+")


def find_chromium() -> str | None:
    return next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
    )


def still_box(part: Locator) -> FloatRect:
    """Returns where a part of the page is once it has stopped moving: a canvas brings its steps into view after it has
    drawn and measured them."""
    boxes = [part.bounding_box()]
    for _ in range(100):
        part.page.wait_for_timeout(100)
        boxes.append(part.bounding_box())
        if boxes[-1] is not None and boxes[-4:] == [boxes[-1]] * 4:
            return boxes[-1]
    raise AssertionError(f"it still moves: {boxes[-4:]}")


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
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OFFHOOK_")} | {
        "OFFHOOK_SAMPLE_CALL": "0",
        # A machine that runs other tests besides is late, and its calls are wanted all the same.
        "OFFHOOK_MAX_LATENESS_MS": "60000",
        **(settings or {}),
    }
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
def chromium(playwright: Playwright, *, allows_microphone: bool = True) -> Iterator[Browser]:
    """Headless Chromium whose microphone hears a beep every second, or a :class:`Caller`."""
    flags = [*FLAGS, "--use-fake-device-for-media-stream"]
    if allows_microphone:
        flags.append("--use-fake-ui-for-media-stream")
    browser = playwright.chromium.launch(executable_path=find_chromium(), args=flags)
    yield browser
    browser.close()


class Caller:
    """Somebody at the microphone of ``page`` who listens before they speak. Make one before the page is opened."""

    def __init__(self, page: Page) -> None:
        self._page = page
        page.add_init_script(_MICROPHONE)

    def say(self, text: str) -> None:
        """Begins to say ``text`` in the offline voice; what was begun before goes on."""
        voice = synthesize_speech(text, voice="en-us+klatt3", sample_rate=RATE)
        samples = base64.b64encode(voice.astype("<i2").tobytes()).decode()
        self._page.evaluate("([samples, rate]) => window.speak(samples, rate)", [samples, RATE])
