"""Measures the cost of a big contact list: ``python -m bench.campaign_intake [--contacts N] [--json]``.

Writes a CSV of N contacts with five columns and creates a campaign from it as the API does: checked in a child process,
copied in one transaction, on a database of its own. ``server_grew_mb`` is the memory growth of the process that carries
calls, ``reader_mb`` the peak memory of the reading process, ``loop_lag_ms`` the longest delay of a tick of the event
loop.
"""

import argparse
import asyncio
import json
import os
import resource
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from bench.campaign_rig import Rig, rig
from offhook.campaigns import CampaignServices
from offhook.campaigns.schemas import CreateCampaignRequest
from offhook.kit.database.embedded_postgres import EmbeddedPostgres
from offhook.orgs import Caller

GOAL_S: Final = 20.0
GOAL_MB: Final = 100.0
TICK_S: Final = 0.005
LOOK_S: Final = 0.1
READER: Final = b"contact_reader_program"


def write_file(path: Path, contacts: int) -> None:
    with path.open("w") as file:
        file.write("phone_number,first_name,last_name,city,note\n")
        for n in range(contacts):
            file.write(f'+1{2012000000 + n},Person{n},Smith,Springfield,"was a customer, since {1990 + n % 30}"\n')


def reader_now_mb() -> float:
    """Returns the peak memory of our child with the reading program in its command line; 0 without one."""
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if READER in (entry / "cmdline").read_bytes():
                status = (entry / "status").read_text()
                peak = status.partition("VmHWM:")[2].split()
                if f"PPid:\t{os.getpid()}\n" in status and peak:
                    return int(peak[0]) / 1024
    return 0.0


async def reader_mb(most: list[float]) -> None:
    """Records the peak until canceled. The sum over all children would include the whole database."""
    while True:
        most[0] = max(most[0], reader_now_mb())
        await asyncio.sleep(LOOK_S)


async def lag(worst: list[float]) -> None:
    """Records how late each tick is, until canceled."""
    while True:
        due = time.monotonic() + TICK_S
        await asyncio.sleep(TICK_S)
        worst[0] = max(worst[0], time.monotonic() - due)


async def measure(one: Rig, contacts: int) -> dict[str, Any]:
    creating, files = one.root.get(CampaignServices).creation, one.root.get(CampaignServices).files
    place = await files.create_upload(one.organization_id, "contacts.csv", 1)
    source = one.root.storage.path_for(place.key)
    write_file(source, contacts)
    caller = Caller(one.organization_id, None, None, "admin", is_superuser=False)
    body = CreateCampaignRequest(
        name="Intake", workflow_id=one.workflow_id, contacts_file_key=place.key, max_concurrency=10
    )
    worst, most = [0.0], [0.0]
    watches = [asyncio.create_task(lag(worst)), asyncio.create_task(reader_mb(most))]
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    campaign_id = await creating.create_draft(caller, body)
    seconds = time.monotonic() - began
    for watch in watches:
        watch.cancel()
    there = await one.rows("SELECT count(*) AS n FROM campaign_contacts WHERE campaign_id = :id", id=campaign_id)
    child = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "contacts": int(there[0].n),
        "file_mb": round(source.stat().st_size / 2**20, 1),
        "seconds": round(seconds, 2),
        "server_grew_mb": round((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, 1),
        "reader_mb": round(most[0], 1),
        "reader_cpu_s": round(child.ru_utime + child.ru_stime, 2),
        "loop_lag_ms": round(1000 * worst[0], 1),
    }


async def run(contacts: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        server = EmbeddedPostgres(Path(folder) / "pg", durable=True)
        try:
            async with rig(server.start(), Path(folder) / "data", phones={"instant": True}, live_calls=10) as one:
                return await measure(one, contacts)
        finally:
            server.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--contacts", type=int, default=200_000)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    found = asyncio.run(run(args.contacts))
    found["is_within_goal"] = found["seconds"] <= GOAL_S and found["reader_mb"] <= GOAL_MB
    print(json.dumps(found) if args.json else "\n".join(f"{name}: {value}" for name, value in found.items()))


if __name__ == "__main__":
    main()
