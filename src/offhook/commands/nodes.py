"""``offhook nodes``: the processes of the installation."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from offhook.commands.console import run_with_database
from offhook.kit.database.database import Database
from offhook.nodes import queries, superuser_queries
from offhook.nodes.queries import NodeRecord
from offhook.nodes.superuser_queries import RecordingSpoolRecord


def register(app: typer.Typer) -> None:
    @app.command()
    def nodes(
        as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
    ) -> None:
        """List the processes of this installation (where they run, their calls, and which are draining or lost) and the
        machines on which recordings wait for upload."""

        async def read_nodes(database: Database) -> tuple[list[NodeRecord], list[RecordingSpoolRecord]]:
            async with database.transaction() as session:
                return await queries.list_nodes(session), await superuser_queries.list_spools(session)

        found, spools = run_with_database(read_nodes)
        for node in found:
            typer.echo(
                json.dumps({**asdict(node), "state": node.state}, default=str) if as_json else _describe_node(node)
            )
        if not found and not as_json:
            typer.echo("No process is running.")
        for spool in spools:
            shown = {**asdict(spool), "kind": "waiting_recordings"}
            typer.echo(json.dumps(shown, default=str) if as_json else _describe_spool(spool))


def _describe_node(node: NodeRecord) -> str:
    calls = f"{node.live_calls} of {node.call_limit} calls" if node.kind == "serve" else "jobs"
    seen = f"silent for {node.silent_s:.0f} s" if node.is_lost else f"{node.lateness_ms} ms late"
    return "  ".join([node.id, node.kind, node.state, calls, seen, node.version, node.address or "-"])


def _describe_spool(spool: RecordingSpoolRecord) -> str:
    tried = "retried every 20 s" if spool.is_tried else f"no process there since {spool.seen_at:%Y-%m-%d %H:%M} UTC"
    size = f"{spool.bytes / 1_000_000:.1f} MB"
    count = f"waiting recordings: {spool.files}"
    parts = [count, size, f"since {spool.oldest_at:%Y-%m-%d %H:%M} UTC", tried, spool.place]
    return "  ".join([*parts, *([spool.error] if spool.error else [])])
