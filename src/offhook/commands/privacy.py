"""``offhook privacy``: everything about one phone number, erased or exported; the receipts of deleted organizations."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Annotated

import typer

from offhook.commands.console import CommandError, load_settings, run_with_database
from offhook.commands.encryption import load_keyring, open_vault
from offhook.kit.clock import SystemClock
from offhook.kit.database.database import Database
from offhook.kit.files.file_store import FileStore
from offhook.kit.json_values import JsonObject
from offhook.kit.phone_numbers import normalize_e164
from offhook.nodes.installation import require_storage
from offhook.orgs import Caller
from offhook.orgs import service as orgs
from offhook.privacy import PersonData, organization_deletion
from offhook.privacy.service import RequestKind
from offhook.runs.records.deletion import RunEraser

Number = Annotated[str, typer.Argument(metavar="NUMBER", help="The phone number, with its country code.")]
Organization = Annotated[str, typer.Option(help="The organization, by number or name.")]


def register(app: typer.Typer) -> None:
    privacy = typer.Typer(
        help="Erase or export everything about a phone number; list deleted organizations.", no_args_is_help=True
    )
    app.add_typer(privacy, name="privacy")

    @privacy.command()
    def erase(
        number: Number,
        org: Organization = orgs.DEFAULT_ORGANIZATION,
        yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    ) -> None:
        """Delete everything about a number except its do-not-call entry, and print the receipt."""
        if not yes:
            typer.confirm(f"Delete all calls, recordings and contacts of {number}? This cannot be undone.", abort=True)
        receipt = _answer("erasure", number, org, None)
        typer.echo(json.dumps(receipt, indent=2))

    @privacy.command()
    def export(
        number: Number,
        output: Annotated[Path, typer.Option(help="The ZIP file to write.")],
        org: Organization = orgs.DEFAULT_ORGANIZATION,
    ) -> None:
        """Write everything about a number to a ZIP file, and print what is in it."""
        receipt = _answer("export", number, org, output)
        typer.echo(json.dumps(receipt, indent=2))

    @privacy.command()
    def deletions() -> None:
        """List organization deletions, newest first, with progress and receipt."""

        async def list_receipts(database: Database) -> list[JsonObject]:
            async with database.transaction() as session:
                return await organization_deletion.list_receipts(session)

        typer.echo(json.dumps(run_with_database(list_receipts), indent=2))


def _answer(kind: RequestKind, number: str, org: str, output: Path | None) -> dict[str, object]:
    settings = load_settings()
    storage, clock = FileStore(settings.data_dir / "files", settings.storage_url), SystemClock()
    keyring = load_keyring(settings)

    async def answer_request(database: Database) -> dict[str, object]:
        await require_storage(database, settings.storage_url)
        data = PersonData(
            database, storage, open_vault(settings, database), keyring, clock, RunEraser(database, storage, clock)
        )
        async with database.transaction() as session:
            organization = await orgs.find_organization(session, org)
            caller = Caller.system(organization.id)
            request = await data.create_request(session, caller, kind, normalize_e164(number))
        await data.answer_request(organization.id, request.id)
        async with database.transaction() as session:
            request = await data.get_request(session, organization.id, request.id)
        if request.state != "done":
            raise CommandError("The number is on a call now. The worker will finish this after the call has ended.")
        if output is not None:
            async with storage.open_file(await data.find_archive(organization.id, request.id)) as path:
                await asyncio.to_thread(shutil.copyfile, path, output)
        return {"request": request.id, "number_hash": request.number_hash, "counts": request.counts}

    return run_with_database(answer_request)
