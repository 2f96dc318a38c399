"""Measures how fast a campaign dials, the cost of a dial, and the reuse of a freed slot, with instant sandbox phones.

    .venv/bin/python -m bench.campaign --contacts 1000 --json

Uses worker processes and a PostgreSQL of its own. No phone talks, so that only the engine is measured.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.campaign_rig import Rig, percentile, rig, rss_mb, tree_cpu_s
from offhook.kit.database.embedded_postgres import EmbeddedPostgres

WARM_UP = 50
_SLOTS = (
    "SELECT extract(epoch FROM call.dialled_at) AS dialled, extract(epoch FROM call.ended_at) AS ended FROM sandbox_calls call"
    " JOIN campaign_attempts attempt ON attempt.run_id = call.run_id WHERE attempt.campaign_id = :id"
)


async def sustained(one: Rig, postgres: int, contacts: int, args: argparse.Namespace) -> dict[str, Any]:
    """Dials a list of this length for ``args.seconds``, or to its end. Returns figures per dial and per second."""
    campaign_id = await one.campaign(contacts, concurrency=args.concurrency)
    await one.campaigns.start(one.organization_id, campaign_id)
    # The first dials wait for workers to start and for statements to be prepared.
    while await dials(one, campaign_id) < min(WARM_UP, contacts):  # noqa: ASYNC110 - other processes dial
        await asyncio.sleep(0.1)
    before, began = await dials(one, campaign_id), time.monotonic()
    workers, database = sum(tree_cpu_s(w.pid) for w in one.workers), tree_cpu_s(postgres)
    while time.monotonic() - began < args.seconds and await one.status(campaign_id) == "running":  # noqa: ASYNC110
        await asyncio.sleep(0.25)
    seconds, made = time.monotonic() - began, await dials(one, campaign_id) - before
    workers = sum(tree_cpu_s(w.pid) for w in one.workers) - workers
    database = tree_cpu_s(postgres) - database
    if await one.status(campaign_id) == "running":
        await one.campaigns.pause(one.organization_id, campaign_id)
    return {
        "contacts": contacts,
        "dials": made,
        "dials_per_s": round(made / seconds, 1),
        "worker_cpu_ms_per_dial": round(1000 * workers / max(1, made), 2),
        "database_cpu_ms_per_dial": round(1000 * database / max(1, made), 2),
        "worker_mb": [round(rss_mb(worker.pid), 1) for worker in one.workers],
    }


async def dials(one: Rig, campaign_id: int) -> int:
    found = await one.rows("SELECT count(*) AS n FROM campaign_attempts WHERE campaign_id = :id", id=campaign_id)
    return int(found[0].n)


async def freed_slots(one: Rig, args: argparse.Namespace) -> dict[str, Any]:
    """Returns the milliseconds from the end of a call, at the far end, to the next phone that rings in its place."""
    campaign_id = await one.campaign(max(200, args.slot_calls), concurrency=args.slot_concurrency)
    await one.campaigns.start(one.organization_id, campaign_id)
    await one.until(campaign_id, "completed", within_s=180)
    calls = await one.rows(_SLOTS, id=campaign_id)
    ended, dialled = sorted(float(c.ended) for c in calls), sorted(float(c.dialled) for c in calls)
    waits = [
        max(0.0, 1000 * (next_one - end))
        for end, next_one in zip(ended, dialled[args.slot_concurrency :], strict=False)
    ]
    return {
        "slots": len(waits),
        "p50_ms": round(percentile(waits, 0.5), 1),
        "p95_ms": round(percentile(waits, 0.95), 1),
        "p99_ms": round(percentile(waits, 0.99), 1),
    }


async def measure(args: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        server = EmbeddedPostgres(Path(folder) / "pg", durable=True)
        try:
            url = server.start()
            report: dict[str, Any] = {"cpus": os.cpu_count(), "workers": args.workers}
            postgres = server.pid
            assert postgres is not None
            data = Path(folder) / "data"
            async with rig(url, data, phones={}, live_calls=1000) as one:
                await start(one, args.workers)
                report["lists"] = []
                for contacts in args.contacts:
                    report["lists"].append(await sustained(one, postgres, contacts, args))
                    print(json.dumps(report["lists"][-1]), file=sys.stderr, flush=True)
            if args.slot_calls:
                async with rig(url, data, phones={"instant_call_s": 1.0}, live_calls=1000) as one:
                    await start(one, args.workers)
                    report["freed_slot_to_dial"] = await freed_slots(one, args)
            return report
        finally:
            server.stop()


async def start(one: Rig, workers: int) -> None:
    """Starts the workers and dials a short list, so that all of them are awake."""
    for _ in range(workers):
        one.start_worker()
    campaign_id = await one.campaign(5 * WARM_UP, concurrency=20)
    await one.campaigns.start(one.organization_id, campaign_id)
    await one.until(campaign_id, "completed", within_s=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--contacts", type=int, nargs="+", default=[1000], help="lengths of lists, one after the other")
    parser.add_argument("--seconds", type=float, default=20, help="at most so long for each list")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--concurrency", type=int, default=50)
    parser.add_argument(
        "--slot-calls", type=int, default=300, help="calls for the measurement of freed slots; 0 = none"
    )
    parser.add_argument("--slot-concurrency", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    report = asyncio.run(measure(args))
    print(json.dumps(report) if args.json else json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
