"""Measures our own time to refuse a call: ``python -m bench.refusals [--calls N] [--json]``.

Runs from the carrier's signed request to the spoken sentence, through the whole application and a real database,
without a network: the signature, the number, the agent, the balance, the refused-call row. At Telnyx a request speaks
the sentence, so its emulator's time in the same process counts too. The goal is 300 ms at most.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from sqlalchemy import update
from tests.calls.carrier_desk import OURS, PUBLIC, THEIRS
from tests.databases import create_database
from tests.telephony.emulator_desk import EMULATORS
from tests.telephony.platform_desk import Platform, platform_of
from tests.voice.phone import simple_agent

from offhook.kit import logging
from offhook.kit.database import migrations
from offhook.kit.database.database import Database
from offhook.kit.database.embedded_postgres import EmbeddedPostgres
from offhook.orgs.tables import Organization
from offhook.usage import ledger
from offhook_lab.carriers import OutgoingCallback, phones

UNKNOWN = "+14155550199"


async def asked(platform: Platform, to: str) -> OutgoingCallback:
    """Returns the carrier's request for a call to this number."""
    carrier = platform.carrier
    call = carrier.call_in(THEIRS, to, replace(phones.silent(), gives_up_s=10.0))
    await call.ended.wait()
    await carrier.wait_settled()
    return next(sent for sent in carrier.callbacks if sent.call_id == call.id)


async def measure(platform: Platform, template: OutgoingCallback, calls: int) -> tuple[list[float], list[float]]:
    """Returns (clock, CPU) in milliseconds of each refusal; every request is for a call of its own."""
    carrier, wall, cpu = platform.carrier, [], []
    for index in range(calls):
        call_id = template.call_id[:-6] + f"{index:06x}"
        form = [(name, value.replace(template.call_id, call_id)) for name, value in template.form]
        body = template.body.replace(template.call_id.encode(), call_id.encode())
        url = template.url.replace(template.call_id, call_id)
        request = replace(template, call_id=call_id, form=form, body=body, url=url)
        request.headers = dict(carrier.sign_callback(request))
        began, used = time.perf_counter(), time.process_time()
        answer = await platform.send(request)
        wall.append((time.perf_counter() - began) * 1000)
        cpu.append((time.process_time() - used) * 1000)
        if answer.status_code != 200:
            raise SystemExit(f"{carrier.name} was answered {answer.status_code}: {answer.text}")
    return wall, cpu


def p95(values: list[float]) -> float:
    return round(statistics.quantiles(values, n=20)[-1], 1)


async def enforce(platform: Platform, *, cents: int) -> None:
    """Turns on charging for calls, from a balance to which this amount is added."""
    async with platform.root.db.transaction() as session:
        if cents:
            await ledger.add_credit(session, platform.organization_id, cents)
        await ledger.set_terms(
            session,
            platform.organization_id,
            platform_cents_per_minute=Decimal(1),
            included_minutes=0,
            is_enforced=True,
        )


async def reasons(platform: Platform) -> AsyncIterator[tuple[str, str]]:
    """Yields (reason, called number) one after the other, with everything set up for it."""
    client = platform.client
    inbound = f"{PUBLIC}/api/v1/telephony/inbound"
    platform.carrier.add_number(UNKNOWN)
    platform.carrier.point_at(f"{inbound}/run")
    yield "unknown number", UNKNOWN
    await enforce(platform, cents=0)
    yield "empty balance", OURS
    await enforce(platform, cents=1000)
    body = {"name": "Draft", "workflow_definition": simple_agent()}
    draft = (await client.post("/workflow/create/definition", json=body)).json()
    platform.carrier.point_at(f"{inbound}/{draft['id']}")
    yield "unpublished", OURS
    platform.carrier.point_at(f"{inbound}/run")
    agent = f"/workflow/{platform.workflow_id}"
    await client.put(f"{agent}/status", json={"status": "archived"})
    yield "archived", OURS
    await client.put(f"{agent}/status", json={"status": "active"})
    await client.post(f"{agent}/runs", json={"mode": "browser"})
    async with platform.root.db.transaction() as session:
        await session.execute(update(Organization).values(concurrency_limit=1))
    yield "full organization", OURS


async def of_carrier(name: str, url: str, folder: Path, calls: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    async with platform_of(name, url, folder) as platform:
        platform.carrier.announces_s = 0.0
        async for reason, to in reasons(platform):
            wall, cpu = await measure(platform, await asked(platform, to), calls)
            found[reason] = {
                "p95_ms": p95(wall),
                "p95_cpu_ms": p95(cpu),
                "median_ms": round(statistics.median(wall), 1),
            }
        rows = await platform.rows("SELECT count(*) FROM refused_calls")
        if rows[0][0] != len(found) * (calls + 1):
            raise SystemExit(f"{name}: {rows[0][0]} refused calls were kept of {len(found) * (calls + 1)}")
    return found


async def run(pg_url: str, folder: Path, calls: int) -> dict[str, Any]:
    database = Database(pg_url)
    await migrations.upgrade_database(database, lambda _: None)
    await database.dispose()
    found = {}
    for name in sorted(EMULATORS):
        url = await create_database(pg_url, f"bench_{name}", template="offhook")
        found[name] = await of_carrier(name, url, folder / name, calls)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=100, help="of each carrier and reason")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    logging.configure_logging("error")
    with tempfile.TemporaryDirectory() as folder:
        server = EmbeddedPostgres(Path(folder) / "pg")
        try:
            found = asyncio.run(run(server.start(), Path(folder), arguments.calls))
        finally:
            server.stop()
    if arguments.json:
        print(json.dumps(found, indent=2))
        return
    for name, reasons in found.items():
        for reason, cost in reasons.items():
            print(f"{name:10} {reason:15} p95 {cost['p95_ms']} ms, {cost['p95_cpu_ms']} ms CPU")


if __name__ == "__main__":
    main()
