"""The parts of one process; ``bootstrap`` builds it and every domain's ``register(root)`` adds to it."""

import os
import secrets
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary, WeakSet

from fastapi import APIRouter
from sqlalchemy import Engine
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import HTTPConnection

from offhook.jobs.registry import JobRegistry
from offhook.kit.clock import Clock, SystemClock
from offhook.kit.database.database import Database
from offhook.kit.event_bus import EventBus
from offhook.kit.files.file_store import FileStore
from offhook.settings import Settings

T = TypeVar("T")
Hook = Callable[[], Awaitable[object]]

# A session knows only its engine; the installation's configuration is in the settings.
_settings: WeakKeyDictionary[Engine, Settings] = WeakKeyDictionary()
# Of processes that take no new calls.
_draining: WeakSet[Engine] = WeakSet()


def new_node_id() -> str:
    """Returns a name for a process that no other ever had."""
    return f"{socket.gethostname()[:24]}-{os.getpid()}-{secrets.token_hex(4)}"


@dataclass
class Root:
    """The parts of one process. ``api`` is mounted under ``/api/v1``; ``services`` are found by their type.

    ``on_start`` runs in the API process before it takes connections, ``on_work`` in a job process before it takes jobs;
    ``on_drain`` runs in the API process after its first signal to stop, while it still answers; ``on_stop`` runs in
    every process, last added first, while the database is still there.

    ``process_checks`` are parts of this process that must be alive for it to be ready. ``node_id`` names it among all
    that ever were.
    """

    settings: Settings
    db: Database
    storage: FileStore
    jobs: JobRegistry
    events: EventBus = field(default_factory=EventBus)
    clock: Clock = field(default_factory=SystemClock)
    api: APIRouter = field(default_factory=APIRouter)
    services: dict[type[Any], Any] = field(default_factory=dict)
    on_start: list[Hook] = field(default_factory=list)
    on_work: list[Hook] = field(default_factory=list)
    on_drain: list[Hook] = field(default_factory=list)
    on_stop: list[Hook] = field(default_factory=list)
    process_checks: dict[str, Callable[[], bool]] = field(default_factory=dict)
    node_id: str = field(default_factory=new_node_id)

    @property
    def is_draining(self) -> bool:
        """Returns whether this process lets its calls end and takes no new ones."""
        return self.db.engine.sync_engine in _draining

    async def drain(self) -> None:
        """Takes no new calls from now on, and returns when those of this process are over."""
        _draining.add(self.db.engine.sync_engine)
        for hook in self.on_drain:
            await hook()

    def provide(self, kind: type[T], service: T) -> None:
        self.services[kind] = service

    def get(self, kind: type[T]) -> T:
        return cast(T, self.services[kind])


def base_url(connection: HTTPConnection) -> str:
    """Returns the server's address for clients: the configured public one, or the one they used, without a slash."""
    root: Root = connection.app.state.root
    if root.settings.public_url:
        return root.settings.public_url.rstrip("/")
    scheme = {"ws": "http", "wss": "https"}.get(connection.url.scheme, connection.url.scheme)
    return f"{scheme}://{connection.url.netloc}"


def use_service(kind: type[T]) -> Any:
    """Returns a FastAPI dependency on the process's service of this type: ``runs: Annotated[LiveCallRegistry,
    Depends(use_service(LiveCallRegistry))]``.
    """

    # async without an await: the framework runs plain functions in a thread
    async def find_service(connection: HTTPConnection) -> T:
        return cast(Root, connection.app.state.root).get(kind)

    return find_service


def remember_settings(root: Root) -> None:
    """Stores this process's settings for its sessions; it takes calls from now on."""
    _settings[root.db.engine.sync_engine] = root.settings
    _draining.discard(root.db.engine.sync_engine)


def is_draining(session: AsyncSession) -> bool:
    """Returns whether this session's process takes no new calls because it is about to stop."""
    return session.get_bind().engine in _draining


def settings_of(session: AsyncSession) -> Settings:
    """Returns the settings of this session's process; the environment's, if none were stored."""
    return _settings.get(session.get_bind().engine) or Settings.load()


async def database_of(connection: HTTPConnection) -> Database:
    """Returns the database. A FastAPI dependency for endpoints whose work is more than one transaction."""
    return cast(Root, connection.app.state.root).db
