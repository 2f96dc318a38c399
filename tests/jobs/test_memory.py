"""The queue without a database follows the rules of the real one."""

from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from offhook import jobs
from offhook.jobs.memory_queue import MemoryJobQueue
from offhook.jobs.registry import JobRegistry


class Handlers:
    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []
        self.fails = False

    async def dial(self, payload: dict[str, Any]) -> None:
        self.seen.append(payload)
        if self.fails:
            raise RuntimeError("the carrier is away")


@pytest.fixture
def handlers() -> Handlers:
    return Handlers()


@pytest.fixture
def queue(handlers: Handlers) -> MemoryJobQueue:
    registry = JobRegistry()
    registry.add("contact.dial", handlers.dial)
    return MemoryJobQueue(registry)


@pytest.fixture
def session(queue: MemoryJobQueue) -> AsyncSession:
    made = AsyncSession()
    queue.attach(made)
    return made


async def test_a_job_exists_when_the_session_commits(
    queue: MemoryJobQueue, session: AsyncSession, handlers: Handlers
) -> None:
    async with session.begin():
        assert await jobs.enqueue(session, "contact.dial", {"n": 1}) == 1
        assert await queue.advance() == []
    assert await queue.advance() == ["contact.dial"]
    assert handlers.seen == [{"n": 1}]


async def test_a_rolled_back_session_leaves_none(queue: MemoryJobQueue, session: AsyncSession) -> None:
    async with session.begin():
        await jobs.enqueue(session, "contact.dial", {})
        await session.rollback()
    assert await queue.advance(60) == []


async def test_a_dedupe_key_holds_one_job_at_a_time(
    queue: MemoryJobQueue, session: AsyncSession, handlers: Handlers
) -> None:
    async with session.begin():
        assert await jobs.enqueue(session, "contact.dial", {"n": 1}, dedupe_key="7")
        assert await jobs.enqueue(session, "contact.dial", {"n": 2}, dedupe_key="7") is None
    await queue.advance()
    async with session.begin():
        assert await jobs.enqueue(session, "contact.dial", {"n": 3}, dedupe_key="7")
    await queue.advance()
    assert handlers.seen == [{"n": 1}, {"n": 3}]


async def test_a_delayed_job_waits_for_its_time(queue: MemoryJobQueue, session: AsyncSession) -> None:
    async with session.begin():
        await jobs.enqueue(session, "contact.dial", {}, delay_s=90)
    assert await queue.advance(89) == []
    assert await queue.advance(2) == ["contact.dial"]


async def test_retries_back_off_and_end_in_a_visible_failure(
    queue: MemoryJobQueue, session: AsyncSession, handlers: Handlers
) -> None:
    handlers.fails = True
    async with session.begin():
        await jobs.enqueue(session, "contact.dial", {})
    assert len(await queue.advance(0.5)) == 1
    assert len(await queue.advance(1)) == 1
    assert len(await queue.advance(60)) == 4
    assert [(name, str(error)) for name, _, error in queue.failed] == [("contact.dial", "the carrier is away")]
    assert await queue.advance(3600) == []


async def test_a_schedule_falls_due_again_and_again(handlers: Handlers) -> None:
    registry = JobRegistry()
    registry.add("runs.sweep", handlers.dial, every_s=5)
    queue = MemoryJobQueue(registry)
    assert len(await queue.advance(21)) == 5
