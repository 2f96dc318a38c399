"""Measures two organizations beside a third that attacks: ``python -m bench.neighbours [--seconds S] [--json]``.

The real ``offhook serve`` with its worker, its built-in models and a real PostgreSQL. One organization uploads a
document every two seconds; another is called, and its caller listens to a long greeting. Both are measured for as long
without the attack as with it (bench/neighbours_attack.py, a process of its own): floods of sign-ups, connections that
send half a request, webhooks that hang, free chats, calls, hostile documents.

document = upload → ready. answer = media socket opened → first frame of the agent. gap = time between two frames of
the greeting, as received.
"""

import argparse
import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import httpx2
import numpy as np
import uvloop

from bench.callers import Caller, Clock, Measures, audio
from bench.neighbours_attack import AttackOrders
from bench.speech import noise
from bench.voice import pace
from offhook.kit.database import migrations
from offhook.kit.database.database import Database
from offhook.kit.database.embedded_postgres import EmbeddedPostgres
from offhook.orgs import service as orgs

CALL_EVERY_S: Final = 2.0
GREETING: Final = (
    "Thank you for calling the reading room of the city library. We are open from nine to six on weekdays and from ten "
    "to two on Saturdays. Books can be returned at any time into the box beside the door. If you want to extend a loan, "
    "have your card at hand, because I will ask for the number on its back."
)
DOCUMENT: Final = "\n\n".join(
    f"Chapter {n}. Loan {n} lasts {n + 10} days and can be extended twice. A fee of {n} dollars is due after that. "
    "Books of the reading room stay in the building, and a card is needed for the scanner on the second floor."
    for n in range(1, 13)
)
READY_TIMEOUT_S: Final = 60.0
# Of a call, after the handshake: more than the greeting takes.
CALL_S: Final = 12.0


@dataclass
class Keys:
    reader: str
    called: str
    attacker: str


@dataclass
class Sample:
    documents_s: list[float] = field(default_factory=list)
    answers_s: list[float] = field(default_factory=list)
    calls: Measures = field(default_factory=Measures)
    refused: list[str] = field(default_factory=list)

    def summary(self) -> dict[str, Any]:
        def point(values: list[float], percent: float) -> float | None:
            return round(float(np.percentile(values, percent)), 3) if values else None

        return {
            "documents": len(self.documents_s),
            "document_s_p50": point(self.documents_s, 50),
            "document_s_max": point(self.documents_s, 100),
            "calls": len(self.answers_s),
            "answer_s_p50": point(self.answers_s, 50),
            "answer_s_max": point(self.answers_s, 100),
            "gap_ms_p50": point(self.calls.gaps_ms, 50),
            "gap_ms_p99": point(self.calls.gaps_ms, 99),
            "gap_ms_max": point(self.calls.gaps_ms, 100),
            "lost_calls": self.calls.lost,
            "refused": self.refused,
        }


class Listener(Caller):
    """A caller who says nothing; ``answered`` is set with the first frame of the agent."""

    def __init__(self, url: str, quiet: list[bytes], measures: Measures, clock: Clock) -> None:
        super().__init__(url, quiet, quiet, measures, clock)
        self.answered = asyncio.Event()
        self.begin(float("inf"))

    def _agent_frame(self, now: float, *, is_sound: bool) -> None:
        self.answered.set()
        super()._agent_frame(now, is_sound=is_sound)


async def make_organizations(url: str) -> Keys:
    database = Database(url)
    await migrations.upgrade_database(database, lambda line: None)
    keys = []
    async with database.transaction() as session:
        for name in ("Reader", "Called", "Attacker"):
            organization_id = await orgs.create_organization(session, name)
            keys.append((await orgs.create_key(session, organization_id=organization_id, name="bench")).key)
    await database.dispose()
    return Keys(*keys)


@contextlib.contextmanager
def serving(folder: Path, database_url: str) -> Iterator[str]:
    """Runs ``offhook serve`` with its worker; yields its address."""
    environment = os.environ | {
        "OFFHOOK_DATA_DIR": str(folder),
        "OFFHOOK_DATABASE_URL": database_url.replace("+asyncpg", ""),
        "OFFHOOK_PORT": "0",
        "OFFHOOK_SIGNUP_ENABLED": "true",
        "OFFHOOK_SAMPLE_CALL": "false",
        "OFFHOOK_LOG_LEVEL": "error",
        # Webhooks are only sent to public addresses; the hanging server is here.
        "OFFHOOK_EGRESS_ALLOW": "127.0.0.1/32",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "offhook.cli", "serve"], env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        yield _address_of(process)
    finally:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            # The second signal ends the attacker's calls, which would go on until they are drained.
            process.terminate()
            process.wait(30)


def _address_of(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    for line in process.stdout:
        _, found, rest = line.partition("http://")
        if found:
            return "http://" + rest.split("/")[0].split()[0]
    raise SystemExit("the server did not start")


class Victims:
    """The two organizations that only want to work."""

    def __init__(self, url: str, keys: Keys) -> None:
        self._reader = httpx2.AsyncClient(base_url=f"{url}/api/v1", headers={"X-API-Key": keys.reader}, timeout=60)
        self._called = httpx2.AsyncClient(base_url=f"{url}/api/v1", headers={"X-API-Key": keys.called}, timeout=60)
        self._quiet = audio(noise(2.0))
        self._workflow_id = 0

    async def make_agent(self) -> None:
        data = {"name": "Start", "prompt": "Help the reader.", "greeting": GREETING, "allow_interrupt": False}
        definition = {
            "nodes": [{"id": "1", "type": "startCall", "position": {"x": 0, "y": 0}, "data": data}],
            "edges": [],
        }
        body = {"name": "library", "workflow_definition": definition}
        made = (await self._called.post("/workflow/create/definition", json=body)).raise_for_status().json()
        self._workflow_id = made["id"]
        # The voice makes a sentence once for all calls.
        await self._call(Sample())

    async def measure(self, seconds: float) -> Sample:
        sample, loop = Sample(), asyncio.get_running_loop()
        until = loop.time() + seconds
        uploads = asyncio.create_task(self._upload_until(sample, until))
        calls = []
        while loop.time() < until:
            calls.append(asyncio.create_task(self._call(sample)))
            await asyncio.sleep(CALL_EVERY_S)
        await asyncio.gather(uploads, *calls)
        return sample

    async def _upload_until(self, sample: Sample, until: float) -> None:
        loop, number = asyncio.get_running_loop(), 0
        while loop.time() < until:
            number += 1
            began = loop.time()
            # Another document each time: the same one is not processed again.
            text = f"Edition {os.urandom(8).hex()}\n\n{DOCUMENT}"
            files = {"file": (f"loans-{number}.txt", text.encode(), "text/plain")}
            response = await self._reader.post("/knowledge-base/", files=files)
            if response.status_code >= 400:
                sample.refused.append(f"document: {response.text[:200]}")
                return
            document_id = response.json()["id"]
            if await self._is_ready(document_id, began + READY_TIMEOUT_S):
                sample.documents_s.append(loop.time() - began)
            else:
                sample.refused.append(f"document {document_id} was not ready after {READY_TIMEOUT_S:.0f} s")
            await asyncio.sleep(max(0.0, began + 2.0 - loop.time()))

    async def _is_ready(self, document_id: str, until: float) -> bool:
        loop = asyncio.get_running_loop()
        while loop.time() < until:
            status = (await self._reader.get(f"/knowledge-base/{document_id}")).raise_for_status().json()["status"]
            if status != "processing" and status != "queued":
                return bool(status == "ready")
            await asyncio.sleep(0.1)
        return False

    async def _call(self, sample: Sample) -> None:
        loop, clock = asyncio.get_running_loop(), Clock(measuring=True)
        began = loop.time()
        response = await self._called.post(f"/workflow/{self._workflow_id}/runs", json={"mode": "twilio"})
        if response.status_code >= 400:
            sample.refused.append(f"call: {response.text[:200]}")
            return
        url = response.json()["media_url"]
        caller = Listener(url, self._quiet, sample.calls, clock)
        host, _, port = url.split("/")[2].partition(":")
        await loop.create_connection(partial(_given, caller), host, int(port))
        talk = asyncio.create_task(pace([caller], clock))
        try:
            async with asyncio.timeout(30):
                await caller.answered.wait()
            sample.answers_s.append(loop.time() - began)
            await asyncio.sleep(CALL_S)
        except TimeoutError:
            sample.refused.append("call: no sound within 30 s")
        finally:
            clock.is_over = True
            caller.hang_up()
            await asyncio.wait([asyncio.create_task(caller.is_closed.wait())], timeout=5)
            talk.cancel()


def _given(caller: Caller) -> Caller:
    return caller


async def run(url: str, keys: Keys, seconds: float) -> dict[str, Any]:
    victims = Victims(url, keys)
    await victims.make_agent()
    alone = await victims.measure(seconds)
    orders = AttackOrders(url, keys.attacker, seconds + 5.0 + CALL_S)
    attack = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.neighbours_attack", json.dumps(orders.as_json()), stdout=asyncio.subprocess.PIPE
    )
    await asyncio.sleep(5.0)
    beside = await victims.measure(seconds)
    done, _ = await attack.communicate()
    return {"alone": alone.summary(), "attacked": beside.summary(), "attack": json.loads(done or b"{}")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=40.0, help="how long each half is measured")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="offhook-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # the database runs as another user
        database = EmbeddedPostgres(folder / "database")
        try:
            database_url = database.start()
            keys = uvloop.run(make_organizations(database_url))
            with serving(folder / "data", database_url) as url:
                found = uvloop.run(run(url, keys, options.seconds))
        finally:
            database.stop()
    if options.json:
        print(json.dumps(found))
        return
    for half, figures in found.items():
        print(half, "  ".join(f"{key} {value}" for key, value in figures.items()), flush=True)


if __name__ == "__main__":
    main()
