"""Holds a number of calls for a long time: ``python -m bench.soak [--calls N --minutes M] [--json]``.

Starts the server of bench.voice (the real API, voice loop, recording, events and database, with vendors of fixed delay)
and keeps ``calls`` callers on it. Each hangs up after 30 to 180 s, and another one calls. Every minute prints what the
process holds. At the end memory and file descriptors of the last sixth are compared with those of the second one: the
first sixth warms up.

unanswered = turns after which the agent said nothing before the caller spoke again; lost = calls that the server ended;
unfinished = runs without an outcome 15 s after the last caller hung up.
"""

import argparse
import asyncio
import json
import os
import random
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import uvloop

from bench.callers import FRAME_S, LISTEN_S, TALK_S, Caller, Clock, Measures, audio
from bench.speech import clip, noise
from bench.voice import Server, cpu_s

SHORTEST_CALL_S = 30.0
LONGEST_CALL_S = 180.0
CLOSING_S = 15.0
MINUTE_S = 60.0


def pss_mb(pid: int) -> float:
    """Returns the process's own memory and its part of what it shares, in megabytes of 2^20 bytes."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0


def descriptors(pid: int) -> int:
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


def tree_pss_mb(pid: int) -> float:
    """Returns the memory of a process and its children, in megabytes."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    total = pss_mb(pid)
    for child in children:
        try:
            total += tree_pss_mb(int(child))
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended since it was listed
    return total


@dataclass
class Sample:
    minute: int
    server_mb: float
    database_mb: float
    descriptors: int
    cpu_ms_per_call_s: float
    calls_begun: int
    turns: int
    unanswered: int
    lost: int
    gap_ms_p99: float | None


@dataclass
class Soak:
    server: Server
    calls: int
    choose: random.Random
    measures: Measures = field(default_factory=Measures)
    clock: Clock = field(default_factory=lambda: Clock(measuring=True))
    callers: list[Caller] = field(default_factory=list)
    calls_begun: int = 0

    async def hold(self, minutes: int, report: Callable[[Sample], None]) -> list[Sample]:
        """Keeps the calls for ``minutes`` and returns a sample of each."""
        samples: list[Sample] = []
        slots = [asyncio.create_task(self._keep_calling(index)) for index in range(self.calls)]
        talk = asyncio.create_task(self._pace())
        loop = asyncio.get_running_loop()
        began, cpu = loop.time(), cpu_s(self.server.pid)
        for minute in range(1, minutes + 1):
            await asyncio.sleep(max(0.0, began + minute * MINUTE_S - loop.time()))
            for task in (talk, *slots):
                if task.done():
                    task.result()
            used, cpu = cpu_s(self.server.pid) - cpu, cpu_s(self.server.pid)
            samples.append(self._sample(minute, used * 1000 / MINUTE_S / self.calls))
            report(samples[-1])
        self.clock.is_over = True
        for slot in slots:
            slot.cancel()
        for caller in self.callers:
            caller.hang_up()
        await asyncio.wait([asyncio.create_task(caller.is_closed.wait()) for caller in self.callers], timeout=CLOSING_S)
        talk.cancel()
        return samples

    async def _keep_calling(self, index: int) -> None:
        loop = asyncio.get_running_loop()
        speech, quiet = audio(clip(TALK_S)), audio(noise(2.0))
        # The first calls begin over a quarter of a minute, as they would.
        await asyncio.sleep(CLOSING_S * index / self.calls)
        while True:
            url = await asyncio.to_thread(self.server.new_media_url)
            caller = Caller(url, speech, quiet, self.measures, self.clock)
            host, _, port = url.split("/")[2].partition(":")
            await loop.create_connection(partial(_same, caller), host, int(port))
            self.calls_begun += 1
            caller.begin(loop.time() + 2.5 + LISTEN_S * self.choose.random())
            self.callers.append(caller)
            await asyncio.sleep(self.choose.uniform(SHORTEST_CALL_S, LONGEST_CALL_S))
            caller.hang_up()
            await asyncio.wait_for(caller.is_closed.wait(), CLOSING_S)
            self.callers.remove(caller)

    async def _pace(self) -> None:
        loop = asyncio.get_running_loop()
        due, turn = loop.time(), 0
        while not self.clock.is_over:
            now = loop.time()
            for caller in self.callers[turn % 4 :: 4]:
                caller.beat(now)
            turn += 1
            due += FRAME_S / 4
            await asyncio.sleep(max(0.0, due - loop.time()))

    def _sample(self, minute: int, cpu_ms: float) -> Sample:
        measures, pid = self.measures, self.server.pid
        sample = Sample(
            minute=minute,
            server_mb=round(pss_mb(pid), 1),
            database_mb=round(tree_pss_mb(self.server.database_pid), 1),
            descriptors=descriptors(pid),
            cpu_ms_per_call_s=round(cpu_ms, 2),
            calls_begun=self.calls_begun,
            turns=measures.turns,
            unanswered=measures.unanswered,
            lost=measures.lost,
            gap_ms_p99=round(float(np.percentile(measures.gaps_ms, 99)), 1) if measures.gaps_ms else None,
        )
        for values in (measures.gaps_ms, measures.answers_ms, measures.barge_ms):
            values.clear()
        return sample

    async def unfinished(self) -> int:
        """Returns how many runs have no end, once those that can end have had the time for it."""
        left = 0
        for _ in range(int(CLOSING_S)):
            left = await asyncio.to_thread(self._count_unfinished)
            if not left:
                break
            await asyncio.sleep(1.0)
        return left

    def _count_unfinished(self) -> int:
        left, page, pages = 0, 1, 1
        while page <= pages:
            path = f"/workflow/{self.server.workflow_id}/runs"
            answer = self.server.http.get(path, params={"page": page, "limit": 100}).raise_for_status().json()
            left += sum(1 for run in answer["runs"] if run["ended_at"] is None)
            page, pages = page + 1, answer["total_pages"]
        return left


def _same(caller: Caller) -> Caller:
    return caller


def judge(samples: list[Sample], unfinished: int) -> dict[str, Any]:
    sixth = max(1, len(samples) // 6)
    early, late = samples[sixth : 2 * sixth] or samples[:1], samples[-sixth:]

    def ratio(name: str) -> float:
        before = statistics.median(getattr(sample, name) for sample in early)
        return round(float(statistics.median(getattr(sample, name) for sample in late) / before), 3)

    last = samples[-1]
    return {
        "minutes": len(samples),
        "calls_begun": last.calls_begun,
        "turns": last.turns,
        "unanswered": last.unanswered,
        "lost": last.lost,
        "unfinished": unfinished,
        "server_memory_ratio": ratio("server_mb"),
        "database_memory_ratio": ratio("database_mb"),
        "descriptors_ratio": ratio("descriptors"),
        "cpu_ms_per_call_s": round(statistics.median(sample.cpu_ms_per_call_s for sample in samples), 2),
    }


async def soak(server: Server, calls: int, minutes: int, seed: int, *, quiet: bool) -> dict[str, Any]:
    def report(sample: Sample) -> None:
        if not quiet:
            print("  ".join(f"{name} {value}" for name, value in vars(sample).items()), flush=True)

    held = Soak(server, calls, random.Random(seed))
    samples = await held.hold(minutes, report)
    return judge(samples, await held.unfinished()) | {"samples": [vars(sample) for sample in samples]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=40, help="calls at once")
    parser.add_argument("--minutes", type=int, default=60, help="how long they are held")
    parser.add_argument("--seed", type=int, default=1, help="chooses how long each call is")
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object at the end, with a sample of each minute"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="offhook-bench-") as folder:
        os.chmod(folder, 0o755)  # noqa: PTH101 - the embedded database runs as another user
        server = Server(folder)
        try:
            result = uvloop.run(soak(server, options.calls, options.minutes, options.seed, quiet=options.json))
        finally:
            server.close()
    if not options.json:
        result.pop("samples")
    print(json.dumps(result) if options.json else "  ".join(f"{name} {value}" for name, value in result.items()))


if __name__ == "__main__":
    main()
