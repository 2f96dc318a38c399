"""Somebody who does not know yet is asked again after each pause, and then no more."""

from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.jobs import JobRegistry, PollSchedule
from offhook.jobs.memory_queue import MemoryJobQueue

ASKING = PollSchedule("bill.read", (60.0, 600.0, 3600.0))


class Question:
    """Asks until it is answered, which is at the ``answered_at``-th time."""

    def __init__(self, answered_at: int | None = None) -> None:
        self.answered_at = answered_at
        self.asked: list[tuple[float, dict[str, Any]]] = []
        registry = JobRegistry()
        registry.add(ASKING.job, self.ask)
        self.queue = MemoryJobQueue(registry)

    def session(self) -> AsyncSession:
        made = AsyncSession()
        self.queue.attach(made)
        return made

    async def ask(self, payload: dict[str, Any]) -> None:
        self.asked.append((self.queue.now_s, payload))
        if len(self.asked) == self.answered_at:
            return
        async with self.session() as session, session.begin():
            assert await ASKING.reschedule(session, payload["run_id"], payload) == (len(self.asked) < 3)


async def begun(question: Question) -> Question:
    async with question.session() as session, session.begin():
        await ASKING.start(session, 7, {"run_id": 7})
        await ASKING.start(session, 7, {"run_id": 7})
    await question.queue.advance(100_000)
    return question


async def test_until_the_pauses_are_over() -> None:
    question = await begun(Question())
    assert [at for at, _ in question.asked] == [60.0, 660.0, 4260.0]
    assert question.asked[0][1] == {"run_id": 7, "tries": 0}
    assert question.queue.failed == []


async def test_until_it_is_answered() -> None:
    assert len((await begun(Question(answered_at=2))).asked) == 2
