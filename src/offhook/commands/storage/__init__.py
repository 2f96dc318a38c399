"""``offhook storage``: where the installation's files are."""

import asyncio
from functools import partial
from typing import Annotated, Final

import typer

from offhook.commands.console import load_settings, run_with_database
from offhook.kit.database.database import Database
from offhook.kit.files.file_store import FileStore, StorageUnavailable
from offhook.nodes.installation import accept_storage, check_bucket, check_secret_key, take_bucket
from offhook.orgs import keyring_of
from offhook.settings import Settings

TIMEOUT_S: Final = 10


def register(app: typer.Typer) -> None:
    storage = typer.Typer(help="Manage where the installation keeps its files.", no_args_is_help=True)
    app.add_typer(storage, name="storage")

    @storage.callback()
    def keep_name() -> None:
        """Makes Typer keep the command's name in a command line of one command."""

    @storage.command("adopt")
    def adopt_files(
        take_over: Annotated[
            bool, typer.Option("--take-over", help="Take over the bucket of another installation.")
        ] = False,
    ) -> None:
        """Use the storage of this process (OFFHOOK_STORAGE_URL) from now on. Move the files there first: nothing is
        copied. Processes with a different setting no longer start."""
        settings = load_settings()
        keyring = keyring_of(settings)

        async def accept_files(database: Database) -> tuple[str, str]:
            files = FileStore(settings.data_dir / "files", settings.storage_url)
            await check_secret_key(database, keyring)
            if take_over:
                await take_bucket(database, files)
            await check_bucket(database, files, partial(typer.echo, err=True))
            return await accept_storage(database, keyring, settings.storage_url)

        before, now = run_with_database(accept_files)
        typer.echo(
            f"Files are in {now} already."
            if before == now
            else f"Files are in {now} from now on, no longer in {before}. Restart the other processes with this setting."
        )


async def find_storage_problem(settings: Settings) -> str | None:
    """Asks the bucket for a file that is not there: its address, credentials and clock are right if it says so."""
    storage = FileStore(settings.data_dir / "files", settings.storage_url)
    if not storage.is_shared:
        return None
    try:
        async with asyncio.timeout(TIMEOUT_S):
            await storage.has_stored("doctor")
    except TimeoutError:
        return f"The bucket in OFFHOOK_STORAGE_URL did not respond within {TIMEOUT_S} s."
    except StorageUnavailable as error:
        return error.message
    return None
