"""``offhook encryption``: keys of encrypted recordings."""

from typing import Annotated

import typer

from offhook.commands.console import load_settings, run_with_database
from offhook.kit.clock import SystemClock
from offhook.kit.crypto import Keyring, SecretUnreadable
from offhook.kit.database.database import Database
from offhook.kit.files.file_store import FileStore
from offhook.nodes.installation import require_storage
from offhook.orgs import Caller, write_audit_entry
from offhook.orgs import service as orgs
from offhook.orgs.data_keys.keys import DataKeys
from offhook.orgs.data_keys.row_sealer import seal_rows
from offhook.orgs.errors import WordsUnreadable
from offhook.runs.journals.call_journals import CallJournals
from offhook.runs.recording_files.sealer import RecordingSealer
from offhook.runs.recording_files.vault import RecordingVault
from offhook.runs.records.word_sealer import WordSealer
from offhook.scenarios.answers.store import AnswerStore
from offhook.settings import Settings

Organization = Annotated[str, typer.Option(help="The organization, by number or name.")]


def register(app: typer.Typer) -> None:
    encryption = typer.Typer(help="Manage the keys of encrypted recordings.", no_args_is_help=True)
    app.add_typer(encryption, name="encryption")

    @encryption.command()
    def rotate(org: Organization = orgs.DEFAULT_ORGANIZATION) -> None:
        """Encrypt an organization's new recordings with a new key, and seal its keys with the newest secret."""
        number = run_with_database(lambda database: _rotate(database, org))
        typer.echo(
            f"Key {number} is used from now on. 'offhook encryption apply' encrypts existing recordings with it."
        )

    @encryption.command()
    def apply(org: Organization = orgs.DEFAULT_ORGANIZATION) -> None:
        """Encrypt an organization's existing transcripts, summaries, notes, chats, webhooks, recordings and journals with its newest key, and delete older keys that nothing needs."""
        events, rows, sealed, left = run_with_database(lambda database: _apply(database, org))
        typer.echo(f"Encrypted {events} events of calls and {sealed} recordings.")
        typer.echo(f"Encrypted {rows} summaries, reviews, notes, chats, and bodies and answers of webhooks.")
        if left:
            typer.echo(f"{left} recordings are less than an hour old and were skipped. Run this again later.")


async def _rotate(database: Database, org: str) -> int:
    async with database.transaction() as session:
        organization = await orgs.find_organization(session, org)
        number = await DataKeys(load_keyring(load_settings())).rotate(session, organization.id)
        await write_audit_entry(
            session,
            Caller.system(organization.id),
            "data_key.rotated",
            f"organization:{organization.id}",
            {"number": number, "by": "command line"},
        )
    return number


async def _apply(database: Database, org: str) -> tuple[int, int, int, int]:
    settings = load_settings()
    await require_storage(database, settings.storage_url)
    async with database.transaction() as session:
        organization_id = (await orgs.find_organization(session, org)).id
    keys = DataKeys(load_keyring(settings))
    try:
        number, events = await WordSealer(database, keys, typer.echo).seal_words(organization_id)
        # One statement may look through all runs for the next ones with a note.
        async with database.without_time_limit() as unlimited:
            rows = await seal_rows(unlimited, keys, organization_id, number)
    except SecretUnreadable:
        raise WordsUnreadable from None
    vault = open_vault(settings, database)
    journals = CallJournals(database, vault.keys, SystemClock(), max_kb=settings.call_journal_kb)
    answers = AnswerStore(database, keys)
    await journals.seal_again(organization_id)
    await answers.seal_again(organization_id)

    async def delete_older_keys(organization_id: int, newest: int) -> None:
        # after a rotation in between, words are encrypted with one of the older keys
        if newest == number:
            await answers.seal_again(organization_id)
            await journals.delete_older_keys(organization_id, newest)

    sealer = RecordingSealer(database, vault, keys, SystemClock(), delete_older_keys)
    return events, rows, *await sealer.seal_recordings(organization_id)


def load_keyring(settings: Settings) -> Keyring:
    secret = settings.secret_key
    return Keyring(secret.get_secret_value() if secret else None, settings.data_dir / "secret.key")


def open_vault(settings: Settings, database: Database) -> RecordingVault:
    """Returns the recordings of the installation, for commands."""
    storage = FileStore(settings.data_dir / "files", settings.storage_url)
    return RecordingVault(database, storage, DataKeys(load_keyring(settings)), encrypts=settings.encrypt_recordings)
