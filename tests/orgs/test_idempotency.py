"""One key, one act: in parallel, after a failure, after a crash, after a day."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update

from offhook.errors import DomainError
from offhook.orgs.errors import (
    IdempotencyConflict,
    IdempotencyInProgress,
    IdempotencyKeyInvalid,
    IdempotencyOutcomeUnknown,
)
from offhook.orgs.idempotency import run_idempotent
from offhook.orgs.tables import IdempotencyKey
from offhook.root import Root
from tests.fixtures_orgs import OrgFixture


class Phone:
    """Counts how often it rang; ``answer`` is what the dial does."""

    def __init__(self, *, takes_s: float = 0, refuses: int = 0) -> None:
        self.rang = 0
        self.is_asked = asyncio.Event()
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self._takes_s = takes_s
        self._refuses = refuses

    async def dial(self) -> dict[str, Any]:
        self.is_asked.set()
        await asyncio.sleep(self._takes_s)
        await self.may_answer.wait()
        if self._refuses:
            self._refuses -= 1
            raise DomainError("The carrier refused.")
        self.rang += 1
        return {"workflow_run_id": self.rang, "status": "initiated"}


Dial = Callable[..., Coroutine[Any, Any, dict[str, Any]]]


@pytest.fixture
def dial(root: Root, org: OrgFixture) -> Dial:
    async def dial(phone: Phone, *, key: str | None = "k1", **changes: Any) -> dict[str, Any]:
        given: dict[str, Any] = {"organization_id": org.id, "scope": "initiate-call", "body": {"to": "+12015550101"}}
        return await run_idempotent(root.db, key=key, action=phone.dial, **(given | changes))

    return dial


async def age(root: Root, by: timedelta) -> None:
    async with root.db.transaction() as session:
        await session.execute(update(IdempotencyKey).values(created_at=IdempotencyKey.created_at - by))


async def test_the_same_answer_and_one_act(dial: Dial) -> None:
    phone = Phone()
    first = await dial(phone)
    assert await dial(phone) == first == {"workflow_run_id": 1, "status": "initiated"}
    assert phone.rang == 1


async def test_body_is_compared_by_meaning(dial: Dial) -> None:
    phone = Phone()
    await dial(phone, body={"a": 1, "b": [2]})
    await dial(phone, body={"b": [2], "a": 1})
    assert phone.rang == 1


async def test_without_a_key_each_request_acts(dial: Dial) -> None:
    phone = Phone()
    await dial(phone, key=None)
    await dial(phone, key=None)
    assert phone.rang == 2


async def test_another_body(dial: Dial) -> None:
    phone = Phone()
    await dial(phone)
    with pytest.raises(IdempotencyConflict) as refused:
        await dial(phone, body={"to": "+12015550102"})
    assert (refused.value.status, refused.value.code) == (409, "idempotency_conflict")
    assert phone.rang == 1


@pytest.mark.parametrize("tail", ["", "\0", "\ud800", "пуск"])
async def test_scopes_of_any_length_and_kind_stay_apart(dial: Dial, tail: str) -> None:
    phone = Phone()
    for number in (1, 2, 1):
        await dial(phone, scope=f"public-agent:{'x' * 100}{number}{tail}")
    assert phone.rang == 2


async def test_keys_are_per_organization_and_scope(dial: Dial, other_org: OrgFixture) -> None:
    phone = Phone()
    await dial(phone)
    await dial(phone, organization_id=other_org.id)
    await dial(phone, scope="public-agent")
    assert phone.rang == 3


async def test_20_at_once_ring_once(dial: Dial) -> None:
    phone = Phone()
    phone.may_answer.clear()
    ringing = {asyncio.create_task(dial(phone)) for _ in range(20)}
    refused = []
    while len(ringing) > 1:
        ended, ringing = await asyncio.wait(ringing, return_when=asyncio.FIRST_COMPLETED)
        refused += [task.exception() for task in ended]
    phone.may_answer.set()
    assert await ringing.pop() == {"workflow_run_id": 1, "status": "initiated"}
    assert phone.rang == 1
    assert len(refused) == 19
    for error in refused:
        assert isinstance(error, IdempotencyInProgress)
        assert error.headers == {"Retry-After": "1"}
    assert await dial(phone) == {"workflow_run_id": 1, "status": "initiated"}


async def test_a_refused_dial_frees_the_key(dial: Dial) -> None:
    phone = Phone(refuses=1)
    with pytest.raises(DomainError, match="carrier refused"):
        await dial(phone)
    assert await dial(phone, body={"to": "+12015550103"}) == {"workflow_run_id": 1, "status": "initiated"}


@pytest.mark.slow
async def test_20_at_once_when_dials_fail_never_ring_twice(dial: Dial) -> None:
    phone = Phone(takes_s=0.02, refuses=3)
    for _ in range(6):
        await asyncio.gather(*(dial(phone) for _ in range(20)), return_exceptions=True)
    assert phone.rang == 1


async def test_an_interrupted_dial_is_never_repeated(root: Root, dial: Dial) -> None:
    phone = Phone(takes_s=30)
    under_way = asyncio.create_task(dial(phone))
    await phone.is_asked.wait()
    under_way.cancel()
    with pytest.raises(asyncio.CancelledError):
        await under_way
    with pytest.raises(IdempotencyInProgress):
        await dial(phone)
    await age(root, timedelta(seconds=61))
    with pytest.raises(IdempotencyOutcomeUnknown):
        await dial(phone)
    assert phone.rang == 0


async def test_after_24_hours_the_key_is_new(root: Root, dial: Dial) -> None:
    phone = Phone()
    await dial(phone)
    await age(root, timedelta(hours=23, minutes=59))
    await dial(phone)
    assert phone.rang == 1
    await age(root, timedelta(minutes=2))
    answers = await asyncio.gather(*(dial(phone, body={"to": "+1"}) for _ in range(10)), return_exceptions=True)
    assert phone.rang == 2
    assert {"workflow_run_id": 2, "status": "initiated"} in answers


@pytest.mark.parametrize("key", ["", " ", "a b", "x" * 256, "\u00e9", "a\nb"])
async def test_bad_key(dial: Dial, key: str) -> None:
    phone = Phone()
    with pytest.raises(IdempotencyKeyInvalid):
        await dial(phone, key=key)
    assert phone.rang == 0


async def test_sweep_removes_what_is_over(root: Root, dial: Dial) -> None:
    await dial(Phone(), key="old")
    await age(root, timedelta(hours=25))
    await dial(Phone(), key="new")
    await root.jobs.handlers["credentials.sweep"]({})
    async with root.db.transaction() as session:
        assert await session.scalar(select(func.count()).select_from(IdempotencyKey)) == 1
