"""Measures how many calls one process carries: ``python -m bench.voice [--calls N --seconds S]
[--wires | --speech-to-speech] [--everything] [--setting NAME=VALUE ...] [--json]``.

Starts the server under load as its own process (bench/voice_server.py: the real API, voice loop, recording, events and
database, with vendors of fixed delay) and calls it from this one over Twilio-shaped sockets on loopback. With
``--wires`` the vendors are a third process (bench/wire_vendors.py), reached over OpenAI's, Cartesia's and Deepgram's
wires; with ``--speech-to-speech`` over OpenAI's Realtime API. ``--everything`` turns on what an agent can have on at
once (``EVERYTHING``), with a turn detector of no size: its features are those of a real one, its model takes no time.

added = caller stopped → first agent frame, less the vendors' 0.5 + 0.1 + 0.08 s; it contains the wait for the first
clause of the model's text (tokens arrive every 10 ms). gap = time between two frames of one answer, as received; the
longest is of answers that nobody talks over. barge = caller starts to talk over the agent → last agent frame received.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import uvloop
from tests.fakes.turn_detector import write_detector

from bench.callers import FRAME_S, LISTEN_S, TALK_S, Caller, Clock, Measures, audio
from bench.fake_vendors import VENDORS_MS
from bench.speech import clip, noise
from bench.wire_vendors import running_vendors, settings_for, speech_to_speech_for

# Background sounds take the place of comfort noise, and are not here. Nor is caller_audio's gain, which bench.caller_audio
# measures by itself.
EVERYTHING: Mapping[str, Any] = {
    "early_answers": True,
    "caller_audio": {"noise_suppression": "moderate"},
    "languages": [{"language": "en-US"}, {"language": "es-MX"}],
    "turn_detector": True,
    "comfort_noise": {"enabled": True},
    "agent_volume": {"enabled": True},
}
LADDER = (1, 10, 20, 40, 80, 100)
TICKS = os.sysconf("SC_CLK_TCK")
# The first turns warm caches and canned phrases and are not measured.
SETTLE_S = 8.0


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def rss_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Rss:"):
            return int(line.split()[1]) / 1024
    return 0.0


class Server:
    """The server in its process. ``settings`` are the agent's; ``vendors`` are addresses of vendors over wires;
    ``installation`` are settings of the server."""

    def __init__(
        self,
        folder: str,
        settings: dict[str, Any] | None = None,
        vendors: dict[str, str] | None = None,
        *,
        is_speech_to_speech: bool = False,
        installation: Mapping[str, str] | None = None,
    ) -> None:
        changed = json.dumps({**(settings_for(vendors) if vendors else {}), **(installation or {})})
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.voice_server", folder, changed],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("the server did not start")
        info = json.loads(line)
        self.pid: int = info["pid"]
        self.database_url: str = info["database_url"]
        self.database_pid: int = info["database_pid"]
        self.http = httpx2.Client(base_url=f"{info['url']}/api/v1", headers={"X-API-Key": info["key"]}, timeout=30)
        if vendors and is_speech_to_speech:
            path = "/organizations/model-configurations/v2"
            self.http.put(path, json=speech_to_speech_for(vendors)).raise_for_status()
        self.workflow_id = self._make_agent(settings or {})

    def _make_agent(self, settings: dict[str, Any]) -> int:
        definition = {
            "nodes": [
                {
                    "id": "1",
                    "type": "startCall",
                    "position": {"x": 0, "y": 0},
                    "data": {
                        "name": "Start",
                        "prompt": "Take the order.",
                        "greeting": "Hello, what can I do for you?",
                        "allow_interrupt": True,
                    },
                }
            ],
            "edges": [],
        }
        body = {"name": "bench", "workflow_definition": definition}
        workflow = self.http.post("/workflow/create/definition", json=body).raise_for_status().json()
        configurations = {"workflow_configurations": {"max_call_duration": 1200, **settings}}
        self.http.put(f"/workflow/{workflow['id']}", json=configurations).raise_for_status()
        return int(workflow["id"])

    def new_media_url(self) -> str:
        answer = self.http.post(f"/workflow/{self.workflow_id}/runs", json={"mode": "twilio"}).raise_for_status().json()
        return str(answer["media_url"])

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()


async def load(server: Server, calls: int, seconds: float, *, has_comfort_noise: bool = False) -> dict[str, Any]:
    """Runs one load step: connect, settle, measure for ``seconds``, hang up."""
    loop = asyncio.get_running_loop()
    measures, clock = Measures(), Clock(has_comfort_noise=has_comfort_noise)
    speech, quiet = audio(clip(TALK_S)), audio(noise(2.0))
    before_mb = rss_mb(server.pid)
    callers: list[Caller] = []
    for _ in range(calls):
        url = await asyncio.to_thread(server.new_media_url)
        caller = Caller(url, speech, quiet, measures, clock)
        host, _, port = url.split("/")[2].partition(":")
        await loop.create_connection(partial(_same, caller), host, int(port))
        callers.append(caller)
    began = loop.time()
    for index, caller in enumerate(callers):
        caller.begin(began + 2.5 + (TALK_S + LISTEN_S) * index / calls)
    talk = asyncio.create_task(pace(callers, clock))
    await asyncio.sleep(SETTLE_S)
    clock.measuring = True
    cpu, at = cpu_s(server.pid), loop.time()
    await asyncio.sleep(seconds)
    clock.measuring = False
    used_ms, wall = (cpu_s(server.pid) - cpu) * 1000, loop.time() - at
    after_mb = rss_mb(server.pid)
    clock.is_over = True
    for caller in callers:
        caller.hang_up()
    await asyncio.wait([asyncio.create_task(caller.is_closed.wait()) for caller in callers], timeout=15)
    talk.cancel()
    return summary(measures, calls, used_ms / calls / wall, (after_mb - before_mb) / calls)


def _same(caller: Caller) -> Caller:
    return caller


async def pace(callers: list[Caller], clock: Clock) -> None:
    """Sends every caller's frame every 20 ms, spread over the 20 ms as independent phones do."""
    loop = asyncio.get_running_loop()
    groups = [callers[index::4] for index in range(4)]
    due, turn = loop.time(), 0
    while not clock.is_over:
        now = loop.time()
        for caller in groups[turn % 4]:
            caller.beat(now)
        turn += 1
        due += FRAME_S / 4
        await asyncio.sleep(max(0.0, due - loop.time()))


def summary(measures: Measures, calls: int, cpu_ms: float, mb_per_call: float) -> dict[str, Any]:
    def point(values: list[float], percent: float, less: float = 0.0) -> float | None:
        return round(float(np.percentile(values, percent)) - less, 1) if values else None

    return {
        "calls": calls,
        "cpu_ms_per_call_s": round(cpu_ms, 2),
        "rss_mb_per_call": round(mb_per_call, 3),
        "turns": measures.turns,
        "unanswered": measures.unanswered,
        "lost": measures.lost,
        "added_ms_p50": point(measures.answers_ms, 50, VENDORS_MS),
        "added_ms_p95": point(measures.answers_ms, 95, VENDORS_MS),
        "gap_ms_p50": point(measures.gaps_ms, 50),
        "gap_ms_p99": point(measures.gaps_ms, 99),
        "gap_ms_max": point(measures.unprovoked_gaps_ms, 100),
        "barge_ms_p50": point(measures.barge_ms, 50),
        "barge_ms_p95": point(measures.barge_ms, 95),
    }


def install_detector(folder: Path) -> dict[str, str]:
    """Writes a turn detector and returns the settings of a server that has it."""
    file = folder / "detector.onnx"
    return {"turn_detector_sha256": write_detector(file), "turn_detector_file": str(file)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, help="one rung instead of the whole ladder")
    parser.add_argument("--seconds", type=float, default=30.0, help="how long each rung is measured")
    parser.add_argument("--wires", action="store_true", help="vendors over their wires, in a process of their own")
    parser.add_argument(
        "--speech-to-speech", action="store_true", help="the same, with one model that hears and speaks"
    )
    parser.add_argument("--everything", action="store_true", help="turn on everything that an agent can use at once")
    parser.add_argument("--setting", action="append", default=[], help="NAME=VALUE (JSON) of the agent's settings")
    parser.add_argument("--json", action="store_true", help="print one JSON object (a list for the whole ladder)")
    options = parser.parse_args()
    settings = dict(EVERYTHING) if options.everything else {}
    settings |= {name: json.loads(value) for name, _, value in (pair.partition("=") for pair in options.setting)}
    rungs = []
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="offhook-bench-"))
        has_wires = options.wires or options.speech_to_speech
        vendors = stack.enter_context(running_vendors()) if has_wires else {}
        os.chmod(folder, 0o755)  # noqa: PTH101 - the embedded database runs as another user
        installation = install_detector(Path(folder)) if "turn_detector" in settings else {}
        server = Server(
            folder,
            settings,
            vendors,
            is_speech_to_speech=options.speech_to_speech,
            installation=installation,
        )
        try:
            uvloop.run(load(server, 1, 1.0))
            for calls in [options.calls] if options.calls else LADDER:
                rung = uvloop.run(load(server, calls, options.seconds, has_comfort_noise="comfort_noise" in settings))
                rungs.append(rung)
                if not options.json:
                    print("  ".join(f"{name} {value}" for name, value in rung.items()), flush=True)
        finally:
            server.close()
    if options.json:
        print(json.dumps(rungs[0] if options.calls else rungs))


if __name__ == "__main__":
    main()
