"""Measures the report of a big campaign: ``python -m bench.campaign_report [--sessions N] [--json]``.

Writes a finished campaign of N call sessions into a database of its own, starts the real server and reads the report as
a client does. ``server_grew_mb`` is the growth of the server's peak memory during the response; ``counts_agree`` means
that every count in the report equals the progress record.
"""

import argparse
import asyncio
import csv
import json
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, Final

import httpx2
from sqlalchemy import text

from bench.campaign_rig import Rig, cpu_s, rig
from offhook.campaigns.reports.progress import load_progress
from offhook.kit.database.embedded_postgres import EmbeddedPostgres
from offhook.orgs import service as orgs

GOAL_MB: Final = 30.0
# A fifth of the contacts was busy and called again; every third of the rest did not answer.
_OUTCOME: Final = (
    "CASE WHEN n <= :sessions - :contacts THEN 'busy' WHEN n > :contacts AND n % 2 = 0 THEN 'busy'"
    " WHEN n <= :contacts AND n % 3 = 0 THEN 'no_answer' ELSE 'answered' END"
)
_MAKE_RUNS: Final = (
    "INSERT INTO runs (organization_id, workflow_id, version_id, version_number, name, mode, direction, status, outcome,"
    "   campaign_id, gathered_context, duration, started_at, answered_at, ended_at)"
    " SELECT :org, :workflow_id, (SELECT id FROM workflow_versions WHERE workflow_id = :workflow_id), 1, 'WR-' || n,"
    f"   'sandbox', 'outbound', 'completed', {_OUTCOME}, :id,"
    """   '{"summary": "They would like to be called in the spring."}', 42.5, now(), now(), now()"""
    " FROM generate_series(1, :sessions) AS n ORDER BY n"
)
_MAKE_ATTEMPTS: Final = (
    "INSERT INTO campaign_attempts (organization_id, campaign_id, contact_id, number, state, because, run_id, outcome,"
    "   reserved_at, may_dial_until, check_at, placed_at, ended_at)"
    " SELECT :org, :id, contact.id, 1 + (run.n - 1) / :contacts, 'final',"
    "   CASE WHEN run.n > :contacts THEN 'busy' END, run.id, run.outcome, now(), now(), now(), now(), now()"
    " FROM (SELECT id, outcome, row_number() OVER (ORDER BY id) AS n FROM runs WHERE campaign_id = :id) AS run"
    " JOIN campaign_contacts contact ON contact.campaign_id = :id AND row_number = 1 + (run.n - 1) % :contacts"
)
_END_CONTACTS: Final = (
    "UPDATE campaign_contacts SET state = 'done', dials = made.number, outcome = made.outcome, done_at = now()"
    " FROM (SELECT DISTINCT ON (contact_id) contact_id, number, outcome FROM campaign_attempts WHERE campaign_id = :id"
    "   ORDER BY contact_id, number DESC) AS made WHERE made.contact_id = campaign_contacts.id"
)
_END: Final = "UPDATE campaigns SET status = 'completed' WHERE id = :id"


async def fill(one: Rig, sessions: int) -> int:
    """Fills the database and returns the campaign's id."""
    contacts = sessions * 5 // 6
    campaign_id = await one.campaign(contacts, concurrency=10)
    values = {"org": one.organization_id, "workflow_id": one.workflow_id, "id": campaign_id}
    values |= {"sessions": sessions, "contacts": contacts}
    async with one.root.db.transaction() as session:
        for statement in (_MAKE_RUNS, _MAKE_ATTEMPTS, _END_CONTACTS, _END):
            names = [name for name in values if f":{name}" in statement]
            await session.execute(text(statement), {name: values[name] for name in names})
    return campaign_id


class Reader:
    """Counts a CSV that arrives in pieces, and keeps none of it."""

    def __init__(self) -> None:
        self.rows = 0
        self.contacts: set[str] = set()
        self.outcomes: Counter[str] = Counter()
        self._rest = ""
        self._header: list[str] = []

    def feed(self, piece: str) -> None:
        *lines, self._rest = (self._rest + piece).split("\r\n")
        for row in csv.reader(lines):
            if not self._header:
                self._header = row
                continue
            named = dict(zip(self._header, row, strict=True))
            self.rows += 1
            self.contacts.add(named["contact_id"])
            self.outcomes[named["outcome"]] += 1


def forget_peak(pid: int) -> None:
    """Resets the record of the peak memory."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def memory_mb(pid: int, name: str) -> float:
    return int(Path(f"/proc/{pid}/status").read_text().partition(f"{name}:")[2].split()[0]) / 1024


async def measure(one: Rig, sessions: int) -> dict[str, Any]:
    campaign_id = await fill(one, sessions)
    async with one.root.db.transaction() as session:
        reached = await load_progress(session, one.organization_id, campaign_id)
        key = (await orgs.create_key(session, organization_id=one.organization_id, name="Bench")).key
    server = one.start_server()
    async with httpx2.AsyncClient(base_url=await one.address(), headers={"X-API-Key": key}, timeout=600) as http:
        path = f"/api/v1/campaign/{campaign_id}/report"
        await http.get(f"/api/v1/campaign/{campaign_id}")
        before, cpu = memory_mb(server.pid, "VmRSS"), cpu_s(server.pid)
        forget_peak(server.pid)
        began, first, size, read = time.monotonic(), 0.0, 0, Reader()
        async with http.stream("GET", path) as answer:
            answer.raise_for_status()
            async for piece in answer.aiter_text():
                first = first or time.monotonic() - began
                size += len(piece)
                read.feed(piece)
        seconds = time.monotonic() - began
        grew = memory_mb(server.pid, "VmHWM") - before
    return {
        "sessions": read.rows,
        "contacts": len(read.contacts),
        "mb": round(size / 2**20, 1),
        "seconds": round(seconds, 1),
        "first_piece_ms": round(1000 * first),
        "cpu_ms_per_1000": round(1e6 * (cpu_s(server.pid) - cpu) / max(1, read.rows), 1),
        "server_grew_mb": round(grew, 1),
        "progress": {"dialled": reached.dialed, "answered": reached.answered, "completed": reached.completed},
        "counts_agree": (read.rows, len(read.contacts), read.outcomes["answered"])
        == (sessions, reached.dialed, reached.answered),
    }


async def run(sessions: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        server = EmbeddedPostgres(Path(folder) / "pg", durable=False)
        try:
            async with rig(server.start(), Path(folder) / "data", phones={"instant": True}, live_calls=10) as one:
                return await measure(one, sessions)
        finally:
            server.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=200_000)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    found = asyncio.run(run(args.sessions))
    found["is_within_goal"] = found["server_grew_mb"] <= GOAL_MB and found["counts_agree"]
    print(json.dumps(found) if args.json else "\n".join(f"{name}: {value}" for name, value in found.items()))


if __name__ == "__main__":
    main()
