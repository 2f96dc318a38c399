"""``offhook nodes``: the processes of the installation."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from offhook.commands.console import run_with_database
from offhook.kit.database.database import Database
from offhook.nodes import queries
from offhook.nodes.queries import NodeRecord


def register(app: typer.Typer) -> None:
    @app.command()
    def nodes(
        as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
    ) -> None:
        """List the processes of this installation: where they run, their calls, and which are draining or lost."""

        async def read_nodes(database: Database) -> list[NodeRecord]:
            async with database.transaction() as session:
                return await queries.list_nodes(session)

        found = run_with_database(read_nodes)
        for node in found:
            typer.echo(
                json.dumps({**asdict(node), "state": node.state}, default=str) if as_json else _describe_node(node)
            )
        if not found and not as_json:
            typer.echo("No process is running.")


def _describe_node(node: NodeRecord) -> str:
    calls = f"{node.live_calls} of {node.call_limit} calls" if node.kind == "serve" else "jobs"
    seen = f"silent for {node.silent_s:.0f} s" if node.is_lost else f"{node.lateness_ms} ms late"
    return "  ".join([node.id, node.kind, node.state, calls, seen, node.version, node.address or "-"])
