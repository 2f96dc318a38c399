"""The end of a command: its answer on stdout, or one sentence on stderr and an exit code."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

import typer
from sqlalchemy.exc import DBAPIError

from offhook.commands.database import any_database
from offhook.errors import DomainError
from offhook.kit import logging
from offhook.kit.database import migrations
from offhook.kit.database.database import Database
from offhook.kit.database.migrations import MigrationError
from offhook.kit.database.postgres_program import PostgresError
from offhook.kit.database.server_tls import DatabaseTlsError
from offhook.kit.files.data_folder import DataFolderError
from offhook.kit.http.server import PortInUse
from offhook.nodes.installation import OtherInstallation
from offhook.orgs import keyring_of
from offhook.orgs.data_keys.keys import DataKeys
from offhook.orgs.data_keys.word_keys import WordKeys, provide_word_keys
from offhook.settings import Settings, SettingsError

T = TypeVar("T")
EXIT_FAILED = 1
EXIT_WRONG_USE = 2

# What PostgreSQL says when it cannot make the extension, and what to do.
_PGVECTOR_MISSING: Final = {
    'extension "vector" is not available': (
        "This PostgreSQL has no pgvector: install the extension on the database's machine (on Debian "
        "postgresql-NN-pgvector), then start again."
    ),
    'permission denied to create extension "vector"': (
        "The database user is not allowed to create the extension pgvector: let a superuser run CREATE EXTENSION vector "
        "in this database, then start again."
    ),
}


class CommandError(Exception):
    """The command cannot do its work: one sentence."""


@contextmanager
def report_errors() -> Iterator[None]:
    """Ends the command with a known error's sentence, without a traceback."""
    try:
        yield
    except SettingsError as error:
        _exit_with(error, EXIT_WRONG_USE)
    except (
        CommandError,
        DataFolderError,
        PortInUse,
        PostgresError,
        MigrationError,
        OtherInstallation,
        DomainError,
        DatabaseTlsError,
    ) as error:
        _exit_with(error, EXIT_FAILED)
    except (DBAPIError, ConnectionError, TimeoutError) as error:
        original = getattr(error, "orig", None) or error
        reason = str(original).strip().partition("\n")[0] or type(original).__name__
        known = next((sentence for words, sentence in _PGVECTOR_MISSING.items() if words in reason), None)
        _exit_with(known or f"The database does not respond: {reason}", EXIT_FAILED)


def load_settings(**overrides: object) -> Settings:
    """Returns the settings of this command, with logging configured."""
    settings = Settings.load(**overrides)
    logging.configure_logging(settings.log_level, settings.log_format)
    return settings


def run_with_database(work: Callable[[Database], Awaitable[T]], *, requires_current: bool = True) -> T:
    """Runs a command's work on its database, which must exist and have this version's schema unless ``requires_current``
    is False. Ends the command on a known error."""

    async def run_work(url: str) -> T:
        database = Database(url)
        settings = Settings.load()
        words = WordKeys(DataKeys(keyring_of(settings)), encrypts=settings.encrypt_recordings)
        provide_word_keys(database, words)
        try:
            if requires_current:
                await migrations.require_current(database)
            return await work(database)
        finally:
            await database.dispose()

    with report_errors(), any_database(load_settings(), creates=not requires_current) as url:
        return asyncio.run(run_work(url))


def _exit_with(error: object, code: int) -> None:
    typer.echo(f"offhook: {error}", err=True)
    raise typer.Exit(code) from None
