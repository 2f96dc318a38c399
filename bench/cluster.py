"""Faults of many machines, on one: ``python -m bench.cluster [--case NAME] [--calls N] [--json]``.

Three ``offhook serve --no-worker`` and two workers of the CLI over one PostgreSQL and a bucket server, behind haproxy
with the example of ``deploy/``. Calls come from an emulated Twilio over real media sockets; a language model, a voice
and a recognizer are emulated too. Each case does one thing to the cluster and says what callers heard. Everything is on
loopback, and ends with the bench.

cut = conversations that ended and that the caller did not end. spoke_again_s = from ``kill -9`` to the first sound over
a new media socket. silent = calls that were answered and brought no sound. longest_gap_s = of each call, the longest
time without any sound (callers talk after 1.5 s of silence).
"""

import argparse
import asyncio
import json
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import uvloop

from bench import cluster_upgrade
from bench.cluster_faults import CASES, Sizes
from bench.cluster_rig import cluster
from bench.cluster_tenant import Tenant
from offhook.kit import logging
from offhook.kit.database.embedded_postgres import EmbeddedPostgres

CASE_TIMEOUT_S: Final = 900.0
# Fills the database first: only when it is asked for.
LONG: Final = "upgrade"


async def run(folder: Path, postgres: EmbeddedPostgres, names: list[str], sizes: Sizes) -> dict[str, Any]:
    found: dict[str, Any] = {}

    async def fill(tenant: Tenant) -> None:
        if LONG in names:  # takes minutes, which are none of the case's
            await cluster_upgrade.fill(tenant, postgres.url, sizes.rows)

    # Before the processes start, whose jobs would look through tables without indexes.
    async with cluster(folder, postgres, fill) as made:
        for name in names:
            began = time.monotonic()
            try:
                async with asyncio.timeout(CASE_TIMEOUT_S):
                    figures = await CASES[name](made, sizes)
            except TimeoutError:
                found[name] = {"is_met": False, "error": f"not over after {CASE_TIMEOUT_S:.0f} s"}
                break
            found[name] = {**figures, "took_s": round(time.monotonic() - began)}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", action="append", choices=list(CASES), help="only this case (repeatable)")
    parser.add_argument("--calls", type=int, default=Sizes.calls, help="calls at once")
    parser.add_argument("--away-s", type=float, default=Sizes.away_s, help="how long the database is away")
    parser.add_argument(
        "--cut-off-s", type=float, default=Sizes.cut_off_s, help="how long one server is cut off from it"
    )
    parser.add_argument("--rows", type=int, default=Sizes.rows, help="runs in the database before the upgrade")
    parser.add_argument("--logs", type=Path, help="keep the logs of the processes in this folder")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    logging.configure_logging("error")
    sizes = Sizes(options.calls, options.away_s, options.cut_off_s, options.rows)
    with tempfile.TemporaryDirectory(prefix="offhook-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # the database runs as another user
        postgres = EmbeddedPostgres(folder / "database")
        try:
            postgres.start()
            found = uvloop.run(run(folder, postgres, options.case or [name for name in CASES if name != LONG], sizes))
        finally:
            postgres.stop()
            if options.logs is not None:
                options.logs.mkdir(parents=True, exist_ok=True)
                for log in folder.glob("*.log"):
                    (options.logs / log.name).write_bytes(log.read_bytes())
    if options.json:
        print(json.dumps({"calls_at_once": options.calls, **found}))
        return
    for case, figures in found.items():
        print(case, "  ".join(f"{key} {value}" for key, value in figures.items()), flush=True)


if __name__ == "__main__":
    main()
