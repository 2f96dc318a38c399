"""What one process is made of; ``bootstrap`` fills it and every domain's ``register(root)`` adds to it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from fastapi import APIRouter
from starlette.requests import HTTPConnection

from offhook.jobs.registry import JobRegistry
from offhook.kit.clock import Clock, SystemClock
from offhook.kit.db import Database
from offhook.kit.events import EventBus
from offhook.kit.storage import Storage
from offhook.settings import Settings

T = TypeVar("T")
Hook = Callable[[], Awaitable[None]]


@dataclass
class Root:
    """The parts of one process. ``api`` is mounted under ``/api/v1``; ``services`` are found by their type.

    ``on_start`` runs in the API process before it takes connections; ``on_stop`` runs in every process, last added
    first, while the database is still there.
    """

    settings: Settings
    db: Database
    storage: Storage
    jobs: JobRegistry
    events: EventBus = field(default_factory=EventBus)
    clock: Clock = field(default_factory=SystemClock)
    api: APIRouter = field(default_factory=APIRouter)
    services: dict[type[Any], Any] = field(default_factory=dict)
    on_start: list[Hook] = field(default_factory=list)
    on_stop: list[Hook] = field(default_factory=list)

    def provide(self, kind: type[T], service: T) -> None:
        self.services[kind] = service

    def get(self, kind: type[T]) -> T:
        return cast(T, self.services[kind])


def use(kind: type[T]) -> Any:
    """A FastAPI dependency that finds the process's service of this type: ``runs: Annotated[LiveRuns, Depends(use(LiveRuns))]``."""

    def find(connection: HTTPConnection) -> T:
        return cast(Root, connection.app.state.root).get(kind)

    return find
