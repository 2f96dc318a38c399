"""Runs a campaign to its end while its workers are killed, and then checks database, progress and far end.

    .venv/bin/python -m bench.campaign_chaos --contacts 5000 --json

Three worker processes; every few seconds one gets ``kill -9`` and another is started.
"""

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.campaign_rig import Rig, rig
from offhook.campaigns import service
from offhook.campaigns.reports.invariants import audit_campaign
from offhook.campaigns.reports.progress import load_progress
from offhook.kit.database.embedded_postgres import EmbeddedPostgres

PHONES = {"mix": {"talks": 0.7, "busy": 0.1, "no_answer": 0.1, "voicemail": 0.1}, "instant_call_s": 0.2}
FOREVER = datetime.max.replace(tzinfo=UTC)
# Short, so that a dead worker's leftovers are examined while the list lasts; phones answer at once here.
SETTINGS = {"campaign_patience_s": 9.0, "campaign_tick_s": 1.0, "run_lease_s": 2.0, "sweep_interval_s": 1.0}

# Contacts whose progress differs from the sandbox's record of the last call to their phone.
_DIFFERS = (
    "SELECT contact.phone_number, contact.outcome, contact.dials, last.status FROM campaign_contacts contact"
    " LEFT JOIN (SELECT DISTINCT ON (to_number) to_number, status FROM sandbox_calls WHERE organization_id = :org"
    "   ORDER BY to_number, dialled_at DESC) last ON last.to_number = contact.phone_number"
    " WHERE contact.campaign_id = :id AND NOT coalesce(CASE last.status"
    "   WHEN 'completed' THEN contact.outcome IN ('answered', 'voicemail') ELSE contact.outcome = last.status END, false)"
)


async def chaos(
    one: Rig, *, contacts: int, seed: int, kill_every_s: float, within_s: float, concurrency: int = 20
) -> dict[str, Any]:
    """Runs the campaign and returns the findings, also after a timeout. ``violations`` and ``unexplained`` are empty
    when all is well."""
    rng = random.Random(seed)
    campaign_id = await one.campaign(
        contacts,
        concurrency=concurrency,
        retry_config={"max_retries": 1, "retry_delay_seconds": 1},
        circuit_breaker={"enabled": False},
    )
    for _ in range(3):
        one.start_worker()
    await one.campaigns.start(one.organization_id, campaign_id)
    began, killed = time.monotonic(), dict[int, datetime]()
    killing = asyncio.create_task(_kill(one, rng, kill_every_s, killed))
    try:
        with suppress(TimeoutError):
            await one.until(campaign_id, "completed", within_s=within_s)
    finally:
        killing.cancel()
    seconds = time.monotonic() - began
    await asyncio.sleep(2.5)  # runs of phones that died after their contact was done lose their lease
    found = {"seconds": round(seconds, 1), "kills": len(killed), "allowed_at_once": concurrency}
    return {**found, **await _asked(one, campaign_id, killed)}


async def _kill(one: Rig, rng: random.Random, every_s: float, killed: dict[int, datetime]) -> None:
    """Kills workers until canceled; ``killed`` is when each process was known to be gone."""
    while True:
        await asyncio.sleep(rng.uniform(0.5, 1.5) * every_s)
        victim = rng.choice([worker for worker in one.workers if worker.poll() is None])
        victim.kill()
        victim.wait()
        killed[victim.pid] = datetime.now(UTC)
        one.start_worker()


def most_at_once(calls: Iterable[tuple[str, datetime, datetime | None]], killed: Mapping[int, datetime]) -> int:
    """Returns the maximum number of phones ringing or talking at once, from ``(process, dialled, ended)``.

    A phone of a killed process fell silent with it, whenever the record learned of that.
    """
    changes: list[tuple[datetime, int]] = []
    for process, dialled, ended in calls:
        gone = killed.get(int(process.split("/")[1]), FOREVER)
        changes += [(dialled, 1), (max(dialled, min(ended or FOREVER, gone)), -1)]
    live = most = 0
    for _, change in sorted(changes):
        live += change
        most = max(most, live)
    return most


async def _asked(one: Rig, campaign_id: int, killed: Mapping[int, datetime]) -> dict[str, Any]:
    async with one.root.db.snapshot_transaction() as session:
        campaign = await service.get_campaign(session, one.organization_id, campaign_id)
        found = await audit_campaign(session, campaign, one.root.clock.now())
        reached = await load_progress(session, one.organization_id, campaign_id)
    rang = await one.rows(
        "SELECT to_number, count(*) AS n FROM sandbox_calls WHERE organization_id = :id GROUP BY 1",
        id=one.organization_id,
    )
    explained = await one.rows(
        "SELECT contact.phone_number, count(*) FILTER (WHERE number = 1 OR because <> '') AS n FROM campaign_attempts"
        " JOIN campaign_contacts contact ON contact.id = contact_id WHERE contact.campaign_id = :id GROUP BY 1",
        id=campaign_id,
    )
    reasons = {row.phone_number: row.n for row in explained}
    book = await one.rows(
        "SELECT process, dialled_at, ended_at FROM sandbox_calls WHERE organization_id = :id", id=one.organization_id
    )
    differs = await one.rows(_DIFFERS, id=campaign_id, org=one.organization_id)
    live = await one.rows(
        "SELECT count(*) AS n FROM runs WHERE organization_id = :id AND status IN ('initiated', 'ringing', 'in_progress')",
        id=one.organization_id,
    )
    return {
        "progress": {**asdict(reached), "outcomes": dict(reached.outcomes)},
        "phones_that_rang": len(rang),
        "rings": sum(row.n for row in rang),
        "unexplained": [row.to_number for row in rang if row.n > reasons.get(row.to_number, 0)][:20],
        "most_at_once": most_at_once(((row.process, row.dialled_at, row.ended_at) for row in book), killed),
        "differs": [row._asdict() for row in differs][:20],
        "live_runs": live[0].n,
        "violations": [asdict(violation) for violation in found.violations],
    }


def is_well(report: dict[str, Any], contacts: int) -> bool:
    """Returns True if all contacts are final, no phone rang twice without a reason, progress matches the far end, no
    slot is left, and the limit of concurrent phones was never exceeded."""
    reached = report["progress"]
    return (
        reached["completed"] == reached["total_contacts"] == contacts
        and reached["dialed"] == report["phones_that_rang"]
        and not report["differs"]
        and not report["unexplained"]
        and not report["violations"]
        and report["most_at_once"] <= report["allowed_at_once"]
        and report["live_runs"] == 0
    )


async def _main(args: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        server = EmbeddedPostgres(Path(folder) / "pg", durable=True)
        try:
            url = server.start()
            async with rig(url, Path(folder) / "data", phones=PHONES, live_calls=1000, **SETTINGS) as one:
                return await chaos(
                    one,
                    contacts=args.contacts,
                    seed=args.seed,
                    kill_every_s=args.kill_every,
                    within_s=args.within,
                    concurrency=args.concurrency,
                )
        finally:
            server.stop()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--contacts", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kill-every", type=float, default=4.0)
    parser.add_argument("--concurrency", type=int, default=20)
    parser.add_argument("--within", type=float, default=1800)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    report = asyncio.run(_main(args))
    report["is_well"] = is_well(report, args.contacts)
    print(json.dumps(report) if args.json else json.dumps(report, indent=2))
    return 0 if report["is_well"] else 1


if __name__ == "__main__":
    sys.exit(main())
