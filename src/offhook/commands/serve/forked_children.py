"""The children that ``serve`` forks before anything else: its worker, and the migration at a first start."""

import asyncio
import contextlib
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module

import typer

from offhook.commands.console import load_settings, report_errors
from offhook.commands.database import MIGRATED_URL, migrate_database
from offhook.commands.worker import run_worker
from offhook.kit.processes.forked_child import ForkedChild, fork_child
from offhook.models.catalog import PROVIDER_PACKAGES

# Needed by every process, and imported by none before its first connection, password or model.
_LATE_IMPORTS = (
    "anyio._backends._asyncio",
    "sqlalchemy.dialects.postgresql.asyncpg",
    *(f"offhook.models.providers.{package}" for package in PROVIDER_PACKAGES),
)


@dataclass(frozen=True, slots=True)
class ForkedChildren:
    """Children that wait to be released; None where a process cannot be forked, and for a worker that nobody wants."""

    worker: ForkedChild | None
    migrator: ForkedChild | None


@contextmanager
def fork_children(*, with_worker: bool) -> Iterator[ForkedChildren]:
    """Yields the children, and ends those that were not released.

    Call it before there are threads, locks or sockets: they share this process's memory, which saves a third of both.
    """
    for module in _LATE_IMPORTS:
        import_module(module)
    with ExitStack() as stack:

        def fork(work: Callable[[], None], name: str) -> ForkedChild | None:
            child = fork_child(work, name=name)
            return child if child is None else stack.enter_context(contextlib.closing(child))

        worker = fork(_work, "offhook-worker") if with_worker else None
        # the last one, because it is closed first, and a child that is forked later holds the pipes of those before it
        yield ForkedChildren(worker, fork(_migrate, "offhook-migrate"))


def _work() -> None:
    # its database is in the environment by now
    _end_with_code(lambda: run_worker(load_settings()))


def _migrate() -> None:
    _end_with_code(lambda: asyncio.run(migrate_database(os.environ[MIGRATED_URL])))


def _end_with_code(work: Callable[[], None]) -> None:
    try:
        with report_errors():
            work()
    except typer.Exit as end:
        raise SystemExit(end.exit_code) from None
