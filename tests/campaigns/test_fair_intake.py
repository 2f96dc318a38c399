"""Preflights and contact files of one organization that take long do not keep another one's waiting."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from offhook.kit.processes import limited_programs
from offhook.kit.processes.fair_places import MAX_WAITING
from offhook.kit.processes.limited_programs import InputFile, ProcessResult
from offhook.kit.tasks import SharedWork
from tests.campaigns.conftest import MakeCampaign
from tests.campaigns.desk import Desk, contact_file, numbers
from tests.fixtures_orgs import OrgFixture

SLOW = numbers(1, first=7000)[0]
ENOUGH_S = 20


class Readers:
    """Runs programs as the server does, but one that reads :data:`SLOW` waits for ``go`` first."""

    def __init__(self, run: Callable[..., ProcessResult]) -> None:
        self._run = run
        self.go = threading.Event()
        self.began: list[str] = []

    def run_program(self, program: str, arguments: tuple[Any, ...], limits: Any, child: Any) -> ProcessResult:
        source = next(argument.path for argument in arguments if isinstance(argument, InputFile))
        self.began.append(Path(program).stem)
        if SLOW in source.read_text() and not self.go.wait(ENOUGH_S):
            raise TimeoutError
        return self._run(program, arguments, limits, child)


@pytest.fixture
def readers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Readers]:
    found = Readers(limited_programs._run_program)
    monkeypatch.setattr(limited_programs, "_run_program", found.run_program)
    yield found
    found.go.set()


async def first_of(answers: list[asyncio.Task[Any]], status: int) -> Any:
    for answer in asyncio.as_completed(answers, timeout=ENOUGH_S):
        if (found := await answer).status_code == status:
            return found
    raise AssertionError(f"none was {status}")


async def test_many_preflights_of_one_organization_leave_a_place_to_another(
    desk: Desk, other_desk: Desk, make_campaign: MakeCampaign, readers: Readers
) -> None:
    theirs = await other_desk.made()
    readers.began.clear()
    slow = [await make_campaign(contacts=[SLOW]) for _ in range(MAX_WAITING + 2)]
    asked = [asyncio.create_task(desk.ask("GET", f"/{campaign.id}/preflight")) for campaign in slow]
    refused = await first_of(asked, 429)
    assert (refused.json()["code"], refused.headers["retry-after"]) == ("too_many_requests", "5")
    async with asyncio.timeout(ENOUGH_S):
        assert (await other_desk.get(f"/{theirs['id']}/preflight"))["total_contacts"] == 3
    assert readers.began == ["preflight_program"] * 2
    readers.go.set()
    statuses = [answer.status_code for answer in await asyncio.gather(*asked)]
    assert sorted(statuses) == [200] * (MAX_WAITING + 1) + [429]


async def test_many_contact_files_of_one_organization_leave_a_place_to_another(
    desk: Desk, other_desk: Desk, readers: Readers
) -> None:
    slow = contact_file() + f"{SLOW},Slow,Oslo\n".encode()
    key = await desk.upload(slow)
    sent = [asyncio.create_task(desk.create(contacts_file_key=key)) for _ in range(MAX_WAITING + 2)]
    assert (await first_of(sent, 429)).json()["code"] == "too_many_requests"
    assert readers.began == ["contact_reader_program"], "a file is checked once at a time"
    async with asyncio.timeout(ENOUGH_S):
        await other_desk.made()
    readers.go.set()
    statuses = [answer.status_code for answer in await asyncio.gather(*sent)]
    assert sorted(statuses) == [200] * (MAX_WAITING + 1) + [429]


async def test_equal_preflights_run_once(
    desk: Desk, make_campaign: MakeCampaign, readers: Readers, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = await make_campaign(contacts=[SLOW, *numbers(2)])
    join, joined = SharedWork.join, 0

    async def count_joined(shared: Any, key: Any, work: Any) -> Any:
        nonlocal joined
        joined += 1
        if joined == 2:
            readers.go.set()
        return await join(shared, key, work)

    monkeypatch.setattr(SharedWork, "join", count_joined)
    path = f"/{campaign.id}/preflight"
    first, second = await asyncio.gather(desk.get(path), desk.get(path))
    assert (first["total_contacts"], second["total_contacts"]) == (3, 3)
    assert readers.began == ["preflight_program"]
    await desk.get(path)
    assert len(readers.began) == 2, "a later one counts again"


async def test_a_preflight_ends_with_its_client(
    app: FastAPI, org: OrgFixture, make_campaign: MakeCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = await make_campaign(contacts=1)
    ended, began = threading.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def run(*_: Any) -> ProcessResult:
        loop.call_soon_threadsafe(began.set)
        assert ended.wait(ENOUGH_S)
        return ProcessResult(-9, "")

    messages = iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def receive() -> dict[str, Any]:
        if (message := next(messages, None)) is not None:
            return message
        await began.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        pass

    path = f"/api/v1/campaign/{campaign.id}/preflight"
    headers = [(name.lower().encode(), value.encode()) for name, value in org.key_headers.items()]
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http",
        "path": path, "raw_path": path.encode(), "root_path": "", "query_string": b"", "headers": headers,
        "client": ("127.0.0.1", 1), "server": ("test", 80),
    }  # fmt: skip
    monkeypatch.setattr(limited_programs, "_run_program", run)
    monkeypatch.setattr(limited_programs._Child, "end", lambda _: ended.set())
    async with asyncio.timeout(ENOUGH_S):
        await app(scope, receive, send)
    assert ended.is_set()
