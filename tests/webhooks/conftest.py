"""What tests of webhooks start from: a customer's server on this machine, and a queue whose time the test moves."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

import pytest
from httpx2 import AsyncClient
from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.bootstrap import build_root, stop_domains
from offhook.jobs.memory_queue import MemoryJobQueue
from offhook.jobs.registry import JobRegistry
from offhook.kit.crypto import Keyring
from offhook.kit.database.database import Database
from offhook.root import Root
from offhook.settings import Settings
from offhook.webhooks import service
from offhook.webhooks.services import WebhookServices
from offhook.webhooks.tables import WebhookEndpoint
from tests.fakes.clock import SetClock
from tests.fakes.web import LocalServer, Reply, egress_to_loopback, local_server
from tests.fixtures_orgs import OrgFixture

PATH = "/organizations/webhooks"
HOST = "shop.test"


@pytest.fixture
async def root(settings: Settings, database: Database) -> AsyncIterator[Root]:
    """A root for which ``shop.test`` is this machine."""
    built = build_root(settings, database, egress=egress_to_loopback(HOST))
    yield built
    await stop_domains(built)
    await built.db.dispose()


@pytest.fixture
async def shop() -> AsyncIterator[LocalServer]:
    """The customer's server: answers 200 until the test says otherwise."""
    async with local_server(Reply(200, b"thanks")) as server:
        yield server


class _Twinned(Database):
    """A database whose transactions put their jobs into the test's own queue."""

    def __init__(self, real: Database, queue: "Queue") -> None:
        self._real, self._queue = real, queue

    def transaction(self, organization_id: int | None = None) -> Any:
        return self._queue.transaction(self._real)


@dataclass
class Queue:
    """Jobs and the wall clock of one installation move together."""

    root: Root
    clock: SetClock = field(default_factory=lambda: SetClock(datetime.now(UTC)))

    def __post_init__(self) -> None:
        deliverer = self.root.get(WebhookServices).deliverer
        registry = JobRegistry()
        registry.add(service.DELIVER_JOB, deliverer.handle_job)
        self.jobs = MemoryJobQueue(registry)
        deliverer._db = _Twinned(self.root.db, self)
        deliverer._clock = self.clock

    def transaction(self, real: Database) -> Any:
        return _Attached(real, self.jobs)

    async def publish(self, org: OrgFixture, kind: str = "run.completed", **data: Any) -> int | None:
        key = data.pop("key", None)
        async with self.transaction(self.root.db) as session:
            return await service.publish_event(session, org.id, kind, data, key=key)

    async def advance(self, seconds: float = 0.0) -> list[str]:
        """Move both clocks on, a job at a time; the names of the deliveries' jobs that ran."""
        ran: list[str] = []
        until = self.jobs.now_s + seconds
        while True:
            due = min((job.due_s for job in self.jobs._waiting if job.name == service.DELIVER_JOB), default=None)
            if due is None or due > until:
                break
            self.clock.advance(max(0.0, due - self.jobs.now_s))
            ran += [
                name for name in await self.jobs.advance(max(0.0, due - self.jobs.now_s)) if name == service.DELIVER_JOB
            ]
        self.clock.advance(until - self.jobs.now_s)
        await self.jobs.advance(until - self.jobs.now_s)
        return ran


class _Attached:
    def __init__(self, real: Database, jobs: MemoryJobQueue) -> None:
        self._context = Database.transaction(real)
        self._jobs = jobs

    async def __aenter__(self) -> AsyncSession:
        session = await self._context.__aenter__()
        self._jobs.attach(session)
        return session

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._context.__aexit__(kind, error, trace)


async def lose_key(root: Root, org: OrgFixture) -> None:
    """The secrets of the organization's webhooks were sealed with a key that this installation no longer has."""
    sealed = Keyring("of another installation, and long enough", root.settings.data_dir).seal(b"x", b"y")
    async with root.db.transaction() as session:
        await session.execute(
            update(WebhookEndpoint).where(WebhookEndpoint.organization_id == org.id).values(secret=sealed)
        )


@pytest.fixture
def queue(root: Root) -> Queue:
    return Queue(root)


@pytest.fixture
async def hook(client: AsyncClient, org: OrgFixture, shop: LocalServer) -> dict[str, Any]:
    """A webhook of ``org`` at the customer's server, with its secret."""
    answer = await client.post(PATH, json={"url": shop.url(HOST, "/hook")}, headers=org.owner_headers)
    assert answer.status_code == 200, answer.text
    made: dict[str, Any] = answer.json()
    return made
