"""How a command ends: its answer on stdout, or one sentence on stderr and an exit code."""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import typer
from sqlalchemy.exc import DBAPIError

from offhook.commands.database import any_database
from offhook.errors import DomainError
from offhook.kit import logging
from offhook.kit.database.embedded_postgres import PostgresError
from offhook.kit.database.migrations import MigrationError
from offhook.kit.files.data_folder import DataFolderError
from offhook.kit.http.server import PortInUse
from offhook.settings import Settings, SettingsError

T = TypeVar("T")
FAILED = 1
WRONG_USE = 2


class CommandError(Exception):
    """The command cannot do its work: one sentence."""


@contextmanager
def one_sentence() -> Iterator[None]:
    """Errors that we know end the command with their sentence, without a traceback."""
    try:
        yield
    except SettingsError as error:
        _leave(error, WRONG_USE)
    except (CommandError, DataFolderError, PortInUse, PostgresError, MigrationError, DomainError) as error:
        _leave(error, FAILED)
    except (DBAPIError, ConnectionError) as error:
        _leave(f"The database does not answer: {_first_line(error)}", FAILED)


def load_settings(**overrides: object) -> Settings:
    """The settings of this command, with the log set up for them."""
    settings = Settings.load(**overrides)
    logging.set_up(settings.log_level, settings.log_format)
    return settings


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def _first_line(error: Exception) -> str:
    original = getattr(error, "orig", None) or error
    return str(original).strip().partition("\n")[0] or type(original).__name__


def _leave(error: object, code: int) -> None:
    typer.echo(f"offhook: {error}", err=True)
    raise typer.Exit(code) from None


__all__ = ["CommandError", "any_database", "load_settings", "one_sentence", "run"]
