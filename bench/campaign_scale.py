"""Measures how dialing grows with worker processes, and whether organizations share it fairly.

    .venv/bin/python -m bench.campaign_scale --workers 1 2 3 --organizations 1 10 --json

Each cell has worker processes of its own over one PostgreSQL, and a campaign for each organization, all started
together. As many phones are called at once in each cell (``--concurrency``, divided among the organizations). Phones are
instant and never talk, so that only the engine is measured. Cells are repeated in turn (``--rounds``).
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

from bench.campaign import start
from bench.campaign_rig import Rig, Tenant, add_tenant, rig, tree_cpu_s
from offhook.kit.database.embedded_postgres import EmbeddedPostgres

WARM_UP_S = 2.0
_DIALS = "SELECT campaign_id, count(*) AS n FROM campaign_attempts WHERE campaign_id = ANY(:ids) GROUP BY campaign_id"


async def measure_cell(one: Rig, postgres: int, organizations: int, args: argparse.Namespace) -> dict[str, Any]:
    """Lets all campaigns dial for ``args.seconds`` and returns dials per second, their cost and their shares."""
    campaigns = await start_campaigns(one, organizations, args)
    await asyncio.sleep(WARM_UP_S)
    before, began = await count_dials(one, campaigns), time.monotonic()
    workers, database = sum(tree_cpu_s(w.pid) for w in one.workers), tree_cpu_s(postgres)
    await asyncio.sleep(args.seconds)
    after, seconds = await count_dials(one, campaigns), time.monotonic() - began
    workers = sum(tree_cpu_s(w.pid) for w in one.workers) - workers
    database = tree_cpu_s(postgres) - database
    left = [await one.status(campaign_id) for campaign_id in campaigns]
    made = [after.get(campaign_id, 0) - before.get(campaign_id, 0) for campaign_id in campaigns]
    for campaign_id, tenant in campaigns.items():
        if await one.status(campaign_id) == "running":
            await one.campaigns.pause(tenant.organization_id, campaign_id)
    dials = sum(made)
    return {
        "workers": len(one.workers),
        "organizations": organizations,
        "dials": dials,
        "dials_per_s": round(dials / seconds, 1),
        "worker_cpu_ms_per_dial": round(1000 * workers / max(1, dials), 2),
        "database_cpu_ms_per_dial": round(1000 * database / max(1, dials), 2),
        "busy_cores": round((workers + database) / seconds, 2),
        "least_and_most_of_an_organization": [min(made), max(made)],
        "ran_out_of_contacts": sum(status != "running" for status in left),
        "load": round(os.getloadavg()[0], 1),
    }


async def start_campaigns(one: Rig, organizations: int, args: argparse.Namespace) -> dict[int, Tenant]:
    each = max(1, args.concurrency // organizations)
    campaigns: dict[int, Tenant] = {}
    for _ in range(organizations):
        tenant = await add_tenant(one.root, {}, live_calls=2 * args.concurrency)
        made = await one.campaign(args.contacts // organizations, concurrency=each, tenant=tenant)
        campaigns[made] = tenant
    for campaign_id, tenant in campaigns.items():
        await one.campaigns.start(tenant.organization_id, campaign_id)
    return campaigns


async def count_dials(one: Rig, campaigns: dict[int, Tenant]) -> dict[int, int]:
    return {row.campaign_id: int(row.n) for row in await one.rows(_DIALS, ids=list(campaigns))}


async def measure(args: argparse.Namespace) -> dict[str, Any]:
    report: dict[str, Any] = {"cpus": os.cpu_count(), "concurrency": args.concurrency, "cells": []}
    with tempfile.TemporaryDirectory() as folder:
        server = EmbeddedPostgres(Path(folder) / "pg", durable=True)
        try:
            url = server.start()
            postgres = server.pid
            assert postgres is not None
            for number in range(args.rounds * len(args.workers)):
                workers = args.workers[number % len(args.workers)]
                async with rig(url, Path(folder) / "data", phones={}, live_calls=1000) as one:
                    await start(one, workers)
                    for organizations in args.organizations:
                        cell = await measure_cell(one, postgres, organizations, args)
                        report["cells"].append(cell)
                        print(json.dumps(cell), file=sys.stderr, flush=True)
                    await one.rows("DELETE FROM nodes WHERE id = 'rig' RETURNING id")
        finally:
            server.stop()
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 3], help="worker processes, one after another")
    parser.add_argument("--organizations", type=int, nargs="+", default=[1, 10])
    parser.add_argument("--concurrency", type=int, default=50, help="phones called at once, by all campaigns together")
    parser.add_argument("--contacts", type=int, default=20_000, help="of all campaigns of a cell together")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each cell")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    report = asyncio.run(measure(args))
    print(json.dumps(report) if args.json else json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
