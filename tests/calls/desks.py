"""One organization with an account at each of the six carriers, whose calls go through a real server."""

import asyncio
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from offhook_lab.carriers import CarrierEmulator, EmulatedCall, phones
from tests.calls.carrier_desk import THEIRS, open_account
from tests.calls.conftest import LiveServer
from tests.fakes.phone import LoudVoice


@dataclass
class Desk:
    """One carrier's account of the organization."""

    server: LiveServer
    carrier: CarrierEmulator
    configuration_id: int

    async def dial(self, number: str) -> int:
        body = {
            "workflow_id": self.server.workflow_id,
            "phone_number": number,
            "telephony_configuration_id": self.configuration_id,
        }
        answer = await self.server.http.post("/telephony/initiate-call", json=body)
        assert answer.status_code == 200, answer.text
        return int(answer.json()["workflow_run_id"])

    async def finished(self, run_id: int) -> dict[str, Any]:
        """The run when its conversation, too, has said how it went: the carrier's report may come first."""
        async with asyncio.timeout(60):
            while True:
                run = await self.server.run(run_id)
                if run["status"] not in {"initiated", "ringing", "in_progress"} and run["end_reason"] is not None:
                    return run
                await asyncio.sleep(0.5)

    async def talked(self, plan: phones.PhonePlan, number: str = THEIRS) -> tuple[dict[str, Any], EmulatedCall]:
        """A call that we place, to its end."""
        self.carrier.phones[number] = plan
        run = await self.finished(await self.dial(number))
        call = self.carrier.find_call(run["call_id"])
        assert call is not None
        return run, call

    async def came(self, call: EmulatedCall) -> dict[str, Any]:
        """The run of a call that came in."""
        path = f"/workflow/{self.server.workflow_id}/runs"
        async with asyncio.timeout(60):
            while True:
                for run in (await self.server.http.get(path)).json()["runs"]:
                    if run["call_id"] == call.id:
                        return await self.finished(run["id"])
                await asyncio.sleep(0.5)

    def refused(self) -> list[Any]:
        """What the carrier told us and we did not take."""
        return [sent for sent in self.carrier.callbacks if sent.status is None or sent.status >= 400]


async def account(server: LiveServer, carrier: CarrierEmulator) -> Desk:
    carrier.voice = LoudVoice().synthesize
    return Desk(
        server, carrier, await open_account(server.root, server.org.id, carrier, server.workflow_id, server.url)
    )


async def each(desks: list[Desk], test: Callable[[Desk], Awaitable[None]]) -> None:
    """Two at a time, which one slow and busy core carries in real time; what fails says which."""
    places = asyncio.Semaphore(2)

    async def placed(desk: Desk) -> None:
        async with places:
            await test(desk)

    found = await asyncio.gather(*(placed(desk) for desk in desks), return_exceptions=True)
    failed = [
        f"{desk.carrier.name}: {''.join(traceback.format_exception(error)[-3:])}"
        for desk, error in zip(desks, found, strict=True)
        if error is not None
    ]
    assert not failed, "\n".join(failed)
