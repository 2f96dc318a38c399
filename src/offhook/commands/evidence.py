"""``offhook evidence``: what is known about one call, in one file."""

from pathlib import Path
from typing import Annotated

import typer

from offhook.commands.console import load_settings, run_with_database
from offhook.commands.encryption import open_vault
from offhook.evidence import EvidenceCollector
from offhook.kit.clock import SystemClock
from offhook.kit.database.database import Database
from offhook.orgs import Caller, write_audit_entry
from offhook.runs import service as runs


def register(app: typer.Typer) -> None:
    @app.command()
    def evidence(
        run_id: Annotated[int, typer.Argument(metavar="RUN", help="The run.")],
        output: Annotated[Path | None, typer.Option(help="The file to write; otherwise stdout.")] = None,
    ) -> None:
        """Collect what is known about a run in one JSON file: its placement, checks, recording, carrier and audit
        entries."""

        async def collect_evidence(database: Database) -> str:
            async with database.transaction() as session:
                organization_id = (await runs.get_any_run(session, run_id)).organization_id
            collector = EvidenceCollector(database, open_vault(load_settings(), database), SystemClock())
            file = await collector.collect_evidence(organization_id, run_id)
            async with database.transaction() as session:
                caller = Caller.system(organization_id)
                await write_audit_entry(
                    session, caller, "run_evidence.exported", f"run:{run_id}", {"by": "command line"}
                )
            return file.model_dump_json(indent=2)

        text = run_with_database(collect_evidence) + "\n"
        if output is None:
            typer.echo(text, nl=False)
        else:
            output.write_text(text, "utf-8")
