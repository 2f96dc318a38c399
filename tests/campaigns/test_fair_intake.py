"""Preflights and contact files of one organization that take long do not keep another one's waiting."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from offhook.kit.processes import limited_programs
from offhook.kit.processes.fair_places import MAX_WAITING
from offhook.kit.processes.limited_programs import InputFile, ProcessResult
from tests.campaigns.conftest import MakeCampaign
from tests.campaigns.desk import Desk, contact_file, numbers

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
