"""Measures lists, filters, sorts and usage among a million runs: ``python -m bench.api [--json] [--plans FILE]``.

Starts the real server twice on an embedded database in a temporary folder: with 100,000 runs of one organization among
90,000 of others, and among 900,000. Requests every GET of the API that needs no more than the organization, a workflow
and a run, and every filter and sort of the lists of runs, one request at a time. p50 and p95 are the client's; CPU is
the time that server and database used per request, which is the figure to compare on a machine with other load.
"""

import argparse
import asyncio
import json
import math
import os
import pickle
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import asyncpg
import httpx2

GOAL_MS: Final = 60.0
FETCH_GOAL_MS: Final = 40.0
SMALL, LARGE = 90_000, 900_000
PREFIX: Final = "/api/v1"
# Streams, files and pages that are not lists.
SKIPPED: Final = re.compile(r"/events$|/recording|/transcript|/openapi|/health|/public/|report$|/stream")
FILTERS: Final[dict[str, dict[str, Any]]] = {
    "status": {"type": "select", "value": "busy"},
    "outcome": {"type": "select", "value": ["voicemail", "no_answer"]},
    "duration": {"type": "number", "value": {"min": 299}},
    "created_at": {"type": "date", "value": {"from": "2026-01-01", "to": "2126-01-01"}},
    "direction": {"type": "select", "value": "inbound"},
    "mode": {"type": "select", "value": "browser"},
    "campaign_id": {"type": "number", "value": 7},
    "id": {"type": "number", "value": {"min": 100, "max": 5000}},
    "phone_number": {"type": "text", "value": "0012"},
    "call_id": {"type": "text", "value": "zzz"},
    "context.city": {"type": "select", "value": "Oslo"},
    "context.name": {"type": "text", "value": "99999"},
    "gathered.age": {"type": "number", "value": {"min": 88}},
    "gathered.interested": {"type": "boolean", "value": True},
}
LISTS: Final = (
    "/workflow/{workflow_id}/runs",
    "/organizations/usage/runs",
    "/superuser/workflow-runs",
)
VARIANTS: Final = (
    "/workflow/fetch?status=active",
    "/workflow/fetch?limit=50&offset=1000",
    "/workflow/{workflow_id}/runs?limit=100&page=100",
    "/organizations/usage/runs?limit=200",
    "/organizations/usage/runs?limit=200&offset=90000",
    "/organizations/usage/runs?from_date=2026-01-01&to_date=2126-01-01",
    "/organizations/usage/runs?workflow_id={workflow_id}",
    "/organizations/usage/daily-breakdown?days=1",
    "/organizations/usage/daily-breakdown?days=366",
    "/organizations/usage/ledger?limit=100&page=900",
    "/organizations/audit-log?limit=100&page=100",
    "/organizations/api-keys?include_archived=true",
    "/superuser/workflow-runs?limit=100&page=100",
)


class Server:
    """The server on a freshly filled database; it stops at the end of the block."""

    def __init__(self, folder: str, others: int, statements: Path | None) -> None:
        more = [] if statements is None else [str(statements)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.api_server", folder, str(others), *more],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("the server did not start")
        facts: dict[str, Any] = json.loads(line)
        return facts

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)


def paths(openapi: dict[str, Any], facts: dict[str, Any]) -> list[str]:
    """Returns every path to request, with its parameters filled in."""
    known = {
        "workflow_id": facts["workflow_id"],
        "run_id": facts["run_id"],
        "organization_id": facts["organization_id"],
    }
    every = [
        path.removeprefix(PREFIX)
        for path, operations in openapi["paths"].items()
        if "get" in operations and set(re.findall(r"{(\w+)}", path)) <= set(known) and not SKIPPED.search(path)
        if not any(
            parameter.get("required") and parameter["in"] == "query"
            for parameter in operations["get"].get("parameters", ())
        )
    ]
    return [path.format(**known) for path in dict.fromkeys([*every, *VARIANTS, *_lists()])]


def _lists() -> Iterator[str]:
    for path in LISTS:
        for sort in ("id", "created_at", "duration"):
            for order in ("asc", "desc"):
                yield f"{path}?sort_by={sort}&sort_order={order}"
        for field, rest in FILTERS.items():
            query = urlencode({"filters": json.dumps([{"field": field, **rest}])})
            yield f"{path}?{query}"


def cpu_s(pid: int) -> float:
    """Returns the CPU seconds of a process and its children, the database's backends included."""
    found = 0.0
    for task in Path(f"/proc/{pid}/task").glob("*"):
        found += int((task / "schedstat").read_text().split()[0]) / 1e9
        children = (task / "children").read_text().split()
        found += sum(cpu_s(int(child)) for child in children)
    return found


async def measure(
    facts: dict[str, Any], repeats: int, only: str | None, statements: Path | None
) -> tuple[dict[str, dict[str, Any]], dict[str, list[tuple[str, tuple[Any, ...]]]]]:
    """Returns p50, p95, status and bytes by path, and the statements behind each when they are recorded."""
    found: dict[str, dict[str, Any]] = {}
    asked: dict[str, list[tuple[str, tuple[Any, ...]]]] = {}
    async with httpx2.AsyncClient(base_url=facts["url"] + PREFIX, timeout=30) as client:
        openapi = (await client.get("/openapi.json")).json()
        for path in paths(openapi, facts):
            if only and only not in path:
                continue
            is_superuser = path.startswith("/superuser")
            headers = {"Authorization": facts["superuser"]} if is_superuser else {"X-API-Key": facts["key"]}
            for _ in range(2):
                first = await client.get(path, headers=headers)
            if first.status_code != 200:
                found[path] = {"status": first.status_code}
                continue
            if statements is not None:
                statements.write_bytes(b"")  # noqa: ASYNC240 - a bench has nothing else to do
                await client.get(path, headers=headers)
                asked[path] = _kept(statements)
            took, cpu_before = [], cpu_s(facts["pid"])
            for _ in range(repeats):
                began = time.perf_counter()
                await client.get(path, headers=headers)
                took.append((time.perf_counter() - began) * 1000)
            found[path] = {"status": 200, "bytes": len(first.content), **_percentiles(took)}
            found[path]["cpu_ms"] = round((cpu_s(facts["pid"]) - cpu_before) * 1000 / repeats, 1)
            print(
                f"{found[path]['p95_ms']:>8} ms  {found[path]['cpu_ms']:>6} CPU ms  {path[:100]}",
                file=sys.stderr,
                flush=True,
            )
        if only is None or only in "report":
            found["report"] = await _report(client, facts)
    return found, asked


async def _report(client: httpx2.AsyncClient, facts: dict[str, Any]) -> dict[str, Any]:
    """Measures the CSV of every run: time to the first piece and to the last."""
    began, first, size = time.perf_counter(), 0.0, 0
    headers = {"X-API-Key": facts["key"]}
    async with client.stream("GET", "/organizations/usage/runs/report", headers=headers) as response:
        async for piece in response.aiter_bytes():
            first = first or (time.perf_counter() - began) * 1000
            size += len(piece)
    total_s = time.perf_counter() - began
    return {"status": response.status_code, "bytes": size, "first_ms": round(first), "total_s": round(total_s, 1)}


def _percentiles(took: list[float]) -> dict[str, float]:
    ordered = sorted(took)
    return {
        name: round(ordered[max(0, math.ceil(share * len(ordered)) - 1)], 1)
        for name, share in (("p50_ms", 0.5), ("p95_ms", 0.95))
    }


def _kept(path: Path) -> list[tuple[str, tuple[Any, ...]]]:
    kept = []
    with path.open("rb") as file:
        while True:
            try:
                kept.append(pickle.load(file))
            except EOFError:
                return kept


async def explain(facts: dict[str, Any], asked: dict[str, list[tuple[str, tuple[Any, ...]]]], out: Path) -> None:
    """Writes the plan of every statement behind every path."""
    connection = await asyncpg.connect(facts["database_url"].replace("+asyncpg", ""))
    await connection.set_type_codec("jsonb", encoder=str, decoder=str, schema="pg_catalog")
    seen: set[str] = set()
    with out.open("w") as file:
        for path, statements in asked.items():
            file.write(f"\n=== {path}\n")
            for statement, parameters in statements:
                if statement in seen and "FROM runs" not in statement:
                    continue
                seen.add(statement)
                file.write(f"\n{statement}\n-- {parameters!r:.500}\n")
                try:
                    plan = await connection.fetch(f"EXPLAIN (ANALYZE, BUFFERS) {statement}", *parameters)
                except asyncpg.PostgresError as error:
                    file.write(f"-- no plan: {error}\n")
                    continue
                file.write("".join(f"  {row[0]}\n" for row in plan))
    await connection.close()


def judge(path: str, row: dict[str, Any]) -> str:
    if "p95_ms" not in row:
        return "-"
    goal = FETCH_GOAL_MS if path == "/workflow/fetch" else GOAL_MS
    return "met" if row["p95_ms"] <= goal else "MISSED"


def show(results: dict[str, dict[str, dict[str, Any]]]) -> None:
    small, large = results.get("small", {}), results["large"]
    print(f"{'path':<110} {'p50':>7} {'p95':>7} {'CPU':>6} {'CPU at 1/10':>12}  goal")
    for path, row in sorted(large.items(), key=lambda item: -item[1].get("p95_ms", 0)):
        if "p95_ms" in row:
            before = small.get(path, {}).get("cpu_ms", "")
            print(
                f"{path[:110]:<110} {row['p50_ms']:>7} {row['p95_ms']:>7} {row['cpu_ms']:>6} {before!s:>12}  {judge(path, row)}"
            )
        else:
            print(f"{path[:110]:<110} {row}")


async def run(others: int, options: argparse.Namespace) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    with tempfile.TemporaryDirectory() as folder:
        statements = Path(folder) / "statements" if options.plans else None
        with Server(f"{folder}/data", others, statements) as facts:
            found, asked = await measure(facts, options.repeats, options.only, statements)
            if options.plans and others == options.rows:
                await explain(facts, asked, options.plans)
    return facts["runs"], found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--plans", type=Path, help="write the query plans to this file")
    parser.add_argument("--repeats", type=int, default=30, help="requests a path")
    parser.add_argument("--rows", type=int, default=LARGE, help="runs of other organizations")
    parser.add_argument(
        "--once", action="store_true", help="do not compare with a tenth of the other organizations' rows"
    )
    parser.add_argument("--only", help="only paths that contain this")
    options = parser.parse_args()
    results: dict[str, dict[str, dict[str, Any]]] = {}
    rows = {}
    sizes = {"large": options.rows} if options.once else {"small": options.rows // 10, "large": options.rows}
    for name, others in sizes.items():
        rows[name], results[name] = asyncio.run(run(others, options))
    if options.json:
        print(json.dumps({"rows": rows, "load": os.getloadavg(), **results}))
    else:
        print(rows)
        show(results)


if __name__ == "__main__":
    main()
